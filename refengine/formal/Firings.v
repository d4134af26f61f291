(** What a continuous query means whose windows are each reported on their own: docs/firings.md (§16).

    Definitions only, as in Definitions.v.  There is one window, [Time] or [Session] (REP-14).  An element's
    number is its [sys], and contents have their elements in the order in which these arrived. *)
From Coq Require Import ZArith List Bool.
From RefEngine Require Import Definitions.
Import ListNotations.
Open Scope Z_scope.

Inductive ReportedWindows := Active | Every.
Inductive ExactGap := Joins | Parts.
Inductive ExpiredSession := Gone | Joined.
Inductive SessionBorder := AtGap | AtLast | AtNext.
Inductive Panes := Accumulating | Discarding | Retracting | Replacing.
Inductive LateFor := ForStream | ForWindow.
(** The fields of §2 that are about such windows.  The delay and the expiry are read for [ForWindow] alone. *)
Record Firings := {
  reported_windows : ReportedWindows; exact_gap : ExactGap; expired_session : ExpiredSession;
  session_border : SessionBorder; early_count : option Z; early_period : option Z; panes : Panes;
  late_for : LateFor; watermark_delay : Z; expiry_rule : CloseRule }.

Definition is_in (c : Content) (e : Element) : bool := existsb (fun x => sys x =? sys e) c.
Definition smallest (xs : list Z) (x : Z) : Z := fold_left Z.min xs x.
(** Each element, after those before it. *)
Fixpoint each_after (before es : list Element) : list (list Element * Element) :=
  match es with [] => [] | e :: rest => (before, e) :: each_after (before ++ [e]) rest end.

(** A window and what it holds: its number, if it is no session, its borders, and its first and last instant. *)
Record Held := { number : option Z; opens : Z; closes : Z; held_first : Z; held_last : Z; held : Content }.

Section Of.
  Variables (s : Semantics) (f : Firings).

  (** MOD-5: the watermark after some elements; none before the first. *)
  Definition watermark (es : list Element) : option Z :=
    match map app es with [] => None | x :: xs => Some (maximum xs x - watermark_delay f) end.
  (** MOD-5: an arrival counts with the watermark after it, in the place of its app. *)
  Definition at_watermark (before : list Element) (a : Arrival) : Arrival :=
    match late_for f, element a with
    | ForWindow, Some e =>
        match watermark (before ++ [e]) with
        | Some x => {| at_ := x; a_sys := a_sys a; a_batch := a_batch a; element := Some e |} | None => a end
    | _, _ => a
    end.
  (** MOD-5, WIN-8: the elements before an arrival that are seen at t. *)
  Definition seen_at (t : Z) (before : list Element) : list Element :=
    match late_for f with ForStream => filter (fun e => app e <=? t) before | ForWindow => before end.
  (** MOD-5: no element is late for the stream. *)
  Definition keeping_all : Semantics :=
    match late_for f with
    | ForStream => s
    | ForWindow =>
        {| t0 := t0 s; closure := closure s; slide_choice := slide_choice s; partial := partial s;
           window_close := window_close s; content_change := content_change s; non_empty := non_empty s;
           periodic := periodic s; close_rule := close_rule s; baseline := baseline s;
           change_scope := change_scope s; expiry_seen := expiry_seen s; missed := missed s; tick := tick s;
           trigger := trigger s; collection := collection s; consumption := consumption s; r2s := r2s s;
           base := base s; empty := empty s; horizon := horizon s; instant := instant s; lateness := None |}
    end.
  (** MOD-5: arrivals are in the order of sys.  The sentinel stays the last one. *)
  Definition arrivals_as_they_came (q : Query) (all : list Element) : list Arrival :=
    let others := arrivals_of keeping_all q all in
    match late_for f with
    | ForStream => others
    | ForWindow => sort (fun a b => a_sys b <? a_sys a) others
    end.

  (** WIN-22: after these elements, whether a window with this last instant has expired. *)
  Definition has_expired (before : list Element) (last : Z) : bool :=
    match late_for f, watermark before with
    | ForWindow, Some w =>
        let due := last + 1 + match lateness s with Some grace => grace | None => 0 end in
        match expiry_rule f with Reached => due <=? w | Passed => due <? w end
    | _, _ => false
    end.

  Section OfWindow.
    Variables (p : Placed) (o : Z).  (* o: where window 0 opens *)
    Let w := win p.
    (** WIN-22: what a window with a number takes in. *)
    Definition numbered (es : list Element) (n : Z) : Held :=
      let from := clipped_first s p o n in
      let to := last_instant s p o n in
      {| number := Some n; opens := o + n * slide s w; closes := o + n * slide s w + span w;
         held_first := from; held_last := to;
         held := map snd (filter (fun x => (app (snd x) <=? to) && (from <=? until (snd x)) &&
                                           negb (has_expired (fst x) to)) (each_after [] es)) |}.

    (** WIN-23: the first and the last instant of elements, and the last one of their session. *)
    Definition first_of (c : Content) : Z := match map app c with [] => 0 | x :: xs => smallest xs x end.
    Definition last_of (c : Content) : Z := match map until c with [] => 0 | x :: xs => maximum xs x end.
    Definition session_last (c : Content) : Z := last_of c + size w - 1.
    Definition is_near (c : Content) (e : Element) : bool :=
      let apart := Z.max (app e - last_of c) (first_of c - until e) in
      match exact_gap f with Joins => apart <=? size w | Parts => apart <? size w end.
    Definition joins (before : list Element) (e : Element) (c : Content) : bool :=
      is_near c e &&
      match expired_session f with Joined => true | Gone => negb (has_expired before (session_last c)) end.
    Definition with_element (sessions : list Content) (x : list Element * Element) : list Content :=
      let (before, e) := x in
      let (near, others) := partition (joins before e) sessions in
      let joined := filter (fun y => existsb (fun c => is_in c y) near) before ++ [e] in
      if has_expired before (session_last joined) then sessions else others ++ [joined].
    Definition session (c : Content) : Held :=
      {| number := None; opens := first_of c;
         closes := last_of c + match session_border f with AtGap => size w | AtLast => 0 | AtNext => 1 end;
         held_first := first_of c; held_last := session_last c; held := c |}.

    (** REP-14: how far windows have begun at t. *)
    Definition newest (t : Z) : Z :=
      match late_for f with ForStream => t | ForWindow => t + watermark_delay f end.
    (** REP-14: all windows that have begun at t and all sessions, in their order. *)
    Definition windows_at (t : Z) (before : list Element) : list Held :=
      let es := seen_at t before in
      match kind w with
      | Session => sort (fun a b => (held_last b <? held_last a) ||
                                    ((held_last b =? held_last a) && (held_first b <? held_first a)))
                        (map session (fold_left with_element (each_after [] es) []))
      | _ => map (numbered es) (upto (least s w) ((newest t - first_instant s p o 0) / slide s w + 1))
      end.
    Definition is_open (t : Z) (h : Held) : bool := (held_first h <=? newest t) && (t <=? held_last h).

    (** REP-16: what a window, or each session that it is made of, showed last. *)
    Definition is_of (h one : Held) : bool :=
      same_number (number one) (number h) && forallb (is_in (held h)) (held one).
    Definition shown_of (m : list Held) (h : Held) : list Held :=
      sort (fun a b => (opens b <? opens a) || ((opens b =? opens a) && (closes b <? closes a)))
           (filter (is_of h) m).
    Definition shown_content (m : list Held) (h : Held) : Content :=
      still_there (held h) (flat_map held (shown_of m h)).
    Definition pane (m : list Held) (h : Held) : Content :=
      match panes f with
      | Discarding => filter (fun e => negb (is_in (shown_content m h) e)) (held h)
      | _ => held h
      end.
    Definition takes_back (one h : Held) : bool :=
      match panes f with
      | Retracting => true
      | Replacing => negb ((opens one =? opens h) && (closes one =? closes h))
      | _ => false
      end.
    Definition as_report (t k : Z) (h : Held) (c : Content) : Report :=
      {| at_instant := t; arrival := k; shown := [Some (opens h, closes h)]; holding := [c] |}.
    (** REP-16: the reports of a window; [true]: it is taken back.  And what windows showed last then. *)
    Definition show (before : list Element) (t k : Z) (m : list Held) (h : Held)
        : list (Report * bool) * list Held :=
      let is_taken_back one := takes_back one h && negb (has_expired before (held_last one)) in
      (map (fun one => (as_report t k one (held one), true)) (filter is_taken_back (shown_of m h)) ++
         [(as_report t k h (pane m h), false)],
       filter (fun one => negb (is_of h one)) m ++ [h]).

    Section AtArrival.
      Variables (a : Arrival) (t : Z) (late : bool).  (* late: it has closed, and took in an element since *)
      (** REP-14, WIN-23: a session does not close at an arrival that joins it. *)
      Definition closes_alone (h : Held) : bool :=
        (t =? held_last h) && (t <? own s [p] a) &&
        match kind w, element a with Session, Some e => negb (is_near (held h) e) | _, _ => true end.
      (** REP-14 *)
      Definition all_hold (m : list Held) (h : Held) : bool :=
        (negb (window_close s) || late || closes_alone h) &&
        (negb (content_change s) || differs s (held h) (shown_content m h)) &&
        (negb (non_empty s) || negb (is_empty (pane m h))) && is_periodic s p t.
      (** REP-15 *)
      Definition is_early (m : list Held) (h : Held) : bool :=
        match early_count f with
        | Some n => n <=? Z.of_nat (length (held h)) - Z.of_nat (length (shown_content m h)) | None => false
        end ||
        match early_period f with
        | Some λ => (border s t mod λ =? 0) && (t <? own s [p] a) && negb (is_empty (held h)) | None => false
        end.
      (** REP-14, REP-15: a window that is open, or late, is reported. *)
      Definition fires_alone (m : list Held) (h : Held) : bool :=
        (late || is_open t h) && (all_hold m h || (negb late && is_early m h)).
    End AtArrival.

    (** REP-14: the reports of an arrival.  [old]: the elements before the arrival that was last looked at. *)
    Definition fired (old before : list Element) (a : Arrival) (k : Z) (ts : list Z) (m : list Held)
        : list (Report * bool) * list Held :=
      let start := hd 0 ts in
      let visit t (state : list (Report * bool) * list Held) h :=
        let (rs, m) := state in
        let late := (t =? start) && (held_last h <? start) && existsb (fun e => negb (is_in old e)) (held h) in
        if fires_alone a t late m h then let (new, m') := show before t k m h in (rs ++ new, m') else state in
      fold_left (fun state t => fold_left (visit t) (windows_at t before) state) ts ([], m).
    Definition run_alone (start : Z)
        : list Element -> list Element -> Looked -> list Held -> Z -> list Arrival -> list (Report * bool) :=
      fix run_on old before l m k arrivals := match arrivals with
      | [] => []
      | a :: rest =>
          let before' := match element a with Some e => before ++ [e] | None => before end in
          let now := at_watermark before a in
          if is_due s l now then
            let instants := interval s [p] start (looked_own l) (own s [p] now) in
            let (rs, m') := fired old before now k instants m in
            rs ++ run_on before before' {| looked_app := at_ now; looked_batch := a_batch now;
                                           looked_own := own s [p] now |} m' (k + 1) rest
          else run_on old before' l m (k + 1) rest
      end.
  End OfWindow.

  (** REP-14 *)
  Definition reports_alone (q : Query) (all : list Element) : list (Report * bool) :=
    match map (place keeping_all q all) (windows q) with
    | p :: _ =>
        match origin p with
        | None => []
        | Some o =>
            let start := s0_at s p o in
            run_alone p o start [] [] {| looked_app := start; looked_batch := 0; looked_own := start |} [] 0
              (arrivals_as_they_came q all)
        end
    | [] => []
    end.
End Of.

(** REP-14, REP-16: what is emitted; [true]: it is taken back. *)
Definition evaluate_with (answer : list Quad -> Bag) (s : Semantics) (f : Firings) (q : Query)
    (all : list Element) : list (Emitted * bool) :=
  match reported_windows f with
  | Active => map (fun x => (x, false)) (evaluate answer s q all)
  | Every =>
      let late_ones := elements_of q all (dropped (lateness (keeping_all s f))) in
      let arrivals := arrivals_as_they_came s f q all in
      let with_rows r := (r, answer_over answer s q [] (holding r)) in
      map (fun x => (emitted_of s arrivals late_ones (with_rows (fst x)), snd x))
        (filter (fun x => emits (empty s) (snd (with_rows (fst x))) []) (reports_alone s f q all))
  end.
