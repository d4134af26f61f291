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
Inductive LateFor := ForStream | ForWindow | ForNothing.
Inductive Watermark := Greatest | Punctuation.
Inductive Clock := OfStream | OfKey.
(** The fields of §2 that are about such windows.  The watermark, its delay and the expiry are read for [ForWindow] alone. *)
Record Firings := {
  reported_windows : ReportedWindows; exact_gap : ExactGap; expired_session : ExpiredSession;
  session_border : SessionBorder; early_count : option Z; early_period : option Z; panes : Panes;
  late_for : LateFor; watermark_of : Watermark; watermark_delay : Z; expiry_rule : CloseRule; clock : Clock }.

Definition is_in (c : Content) (e : Element) : bool := existsb (fun x => sys x =? sys e) c.
Definition smallest (xs : list Z) (x : Z) : Z := fold_left Z.min xs x.
(** Each element, after those before it. *)
Fixpoint each_after (before es : list Element) : list (list Element * Element) :=
  match es with [] => [] | e :: rest => (before, e) :: each_after (before ++ [e]) rest end.

(** A window and what it holds: its number, if it is no session, its borders, and its first and last instant. *)
Record Held := { number : option Z; opens : Z; closes : Z; held_first : Z; held_last : Z; held : Content;
                 joined_after_expiry : list Content (* those of its sessions that had expired when an element joined them *) }.

Section Of.
  Variables (s : Semantics) (f : Firings).

  (** MOD-5: a punctuation is in no window.  So is what is put [aside]: no stream has the number -1. *)
  Definition is_punctuation (e : Element) : bool :=
    match late_for f, watermark_of f with ForWindow, Punctuation => is_empty (graph e) | _, _ => false end.
  Definition aside (e : Element) : Element :=
    {| stream := -1; app := app e; until := until e; sys := sys e; batch := batch e; graph := graph e |}.
  (** MOD-5: the watermark after some elements, if there is one. *)
  Definition watermark (es : list Element) : option Z :=
    let brings := match late_for f, watermark_of f with
                  | ForWindow, Punctuation => filter is_punctuation es | _, _ => es end in
    let delay := match late_for f with ForWindow => watermark_delay f | _ => 0 end in
    match map app brings with [] => None | x :: xs => Some (maximum xs x - delay) end.
  (** MOD-5: an arrival counts with the watermark after it, in the place of its app.  Without any it is before
      all times, and so before the first interval starts. *)
  Definition at_watermark (start : Z) (before : list Element) (a : Arrival) : Arrival :=
    match late_for f, element a with
    | ForStream, _ | _, None => a
    | _, Some e =>
        let now := match watermark (before ++ [e]) with Some x => x | None => start - 1 end in
        {| at_ := now; a_sys := a_sys a; a_batch := a_batch a; element := Some e |}
    end.
  Definition at_watermarks (start : Z) : list Element -> list Arrival -> list Arrival :=
    fix from before arrivals := match arrivals with
    | [] => []
    | a :: rest => at_watermark start before a ::
                   from match element a with Some e => before ++ [e] | None => before end rest
    end.
  (** MOD-2, MOD-5: the elements that arrive, stream after stream, and then what is in no window. *)
  Definition arriving_elements (q : Query) (all : list Element) : list Element :=
    match late_for f with
    | ForStream => elements_of q all (admitted (lateness s))
    | _ => elements_of q all (filter (fun e => negb (is_punctuation e))) ++
           map aside (elements_of q all (filter is_punctuation))
    end.
  (** ENG-5, MOD-5: arrivals in the order of app, or as they came.  The sentinel is the last one. *)
  Definition arrivals_among (q : Query) (all es : list Element) (h : option Z) : list Arrival :=
    let names := map on (windows q) in
    let place e := index_of (stream e) names in
    let sorted := match late_for f with
                  | ForStream => sort (comes_after names) es
                  | _ => sort (fun a b => (sys b <? sys a) || ((sys b =? sys a) && (place b <? place a))) es end in
    map (fun e => {| at_ := app e; a_sys := sys e; a_batch := batch e; element := Some e |}) sorted ++
    match h with
    | None => []
    | Some h => [{| at_ := h; a_sys := maximum (map sys all) 0 + 1;
                    a_batch := maximum (map batch es) 0 + 1; element := None |}]
    end.
  (** WIN-6, WIN-10: a window over its elements. *)
  Definition place_among (q : Query) (es : list Element) (w : Window) : Placed :=
    let mine := filter (fun e => stream e =? on w) es in
    let ids := ids_from w 0 mine in
    let instants := match kind w with Tuple => map (fun e => lookup ids (sys e)) mine | _ => map app mine end in
    let of_all (f : list Z -> Z -> Z) := match instants with [] => None | x :: xs => Some (f xs x) end in
    let t1 := of_all smallest in
    {| win := w; ids := ids; t1 := t1; origin := origin_of s (registered q) w t1 (of_all maximum) |}.

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
    (** MOD-5, WIN-8, WIN-23: the window's elements before an arrival that are seen at t, with those before each. *)
    Definition seen_at (t : Z) (before : list Element) : list (list Element * Element) :=
      filter (fun x => (stream (snd x) =? on w) &&
                       match late_for f, kind w with ForStream, Time => app (snd x) <=? t | _, _ => true end)
             (each_after [] before).
    (** WIN-22: what a window with a number takes in. *)
    Definition numbered (es : list (list Element * Element)) (n : Z) : Held :=
      let from := clipped_first s p o n in
      let to := last_instant s p o n in
      {| number := Some n; opens := o + n * slide s w; closes := o + n * slide s w + span w;
         held_first := from; held_last := to;
         held := map snd (filter (fun x => (app (snd x) <=? to) && (from <=? until (snd x)) &&
                                           negb (has_expired (fst x) to)) es);
         joined_after_expiry := [] |}.

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
    Definition with_element (sessions : list (Content * list Content)) (x : list Element * Element)
        : list (Content * list Content) :=
      let (before, e) := x in
      let (near, others) := partition (fun one => joins before e (fst one)) sessions in
      let joined := filter (fun y => existsb (fun one => is_in (fst one) y) near) before ++ [e] in
      let expired := filter (fun c => has_expired before (session_last c)) (map fst near) in
      if has_expired before (session_last joined) then sessions
      else others ++ [(joined, flat_map snd near ++ expired)].
    Definition session (x : Content * list Content) : Held :=
      let c := fst x in
      {| number := None; opens := first_of c;
         closes := last_of c + match session_border f with AtGap => size w | AtLast => 0 | AtNext => 1 end;
         held_first := first_of c; held_last := session_last c; held := c; joined_after_expiry := snd x |}.

    (** REP-14: how far windows have begun at t. *)
    Definition newest (t : Z) : Z := match late_for f with ForWindow => t + watermark_delay f | _ => t end.
    (** REP-14: all windows that have begun at t and all sessions, in their order. *)
    Definition windows_at (t : Z) (before : list Element) : list Held :=
      let es := seen_at t before in
      match kind w with
      | Session => sort (fun a b => (held_last b <? held_last a) ||
                                    ((held_last b =? held_last a) && (held_first b <? held_first a)))
                        (map session (fold_left with_element es []))
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
    Definition show (t k : Z) (m : list Held) (h : Held)
        : list (Report * bool) * list Held :=
      let is_taken_back one := takes_back one h && negb (existsb (fun c => forallb (is_in c) (held one)) (joined_after_expiry h)) in
      (map (fun one => (as_report t k one (held one), true)) (filter is_taken_back (shown_of m h)) ++
         [(as_report t k h (pane m h), false)],
       filter (fun one => negb (is_of h one)) m ++ [h]).

    Section AtArrival.
      Variables (a : Arrival) (t : Z) (late : bool).  (* late: it has closed, and took in an element since *)
      (** REP-14, WIN-23: a session does not close at an arrival that joins it. *)
      Definition closes_window (h : Held) : bool :=
        (t =? held_last h) && (t <? own s [p] a) &&
        match kind w, element a with Session, Some e => negb ((stream e =? on w) && is_near (held h) e) | _, _ => true end.
      (** REP-14 *)
      Definition all_hold (m : list Held) (h : Held) : bool :=
        (negb (window_close s) || late || closes_window h) &&
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
      Definition is_reported (m : list Held) (h : Held) : bool :=
        (s0_at s p o <=? held_last h) && (late || is_open t h) && (all_hold m h || (negb late && is_early m h)).
    End AtArrival.

    (** REP-14: the reports of an arrival.  [old]: the elements before the arrival that was last looked at. *)
    Definition fired (old before : list Element) (a : Arrival) (k : Z) (ts : list Z) (m : list Held)
        : list (Report * bool) * list Held :=
      let start := hd 0 ts in
      let visit t (state : list (Report * bool) * list Held) h :=
        let (rs, m) := state in
        let late := (t =? start) && (held_last h <? start) && existsb (fun e => negb (is_in old e)) (held h) in
        if is_reported a t late m h then let (new, m') := show t k m h in (rs ++ new, m') else state in
      fold_left (fun state t => fold_left (visit t) (windows_at t before) state) ts ([], m).
    Definition run_alone (start : Z)
        : list Element -> list Element -> Looked -> list Held -> Z -> list Arrival -> list (Report * bool) :=
      fix run_on old before l m k arrivals := match arrivals with
      | [] => []
      | a :: rest =>
          let before' := match element a with Some e => before ++ [e] | None => before end in
          let now := at_watermark start before a in
          if is_due s l now then
            let instants := interval s [p] start (looked_own l) (own s [p] now) in
            let (rs, m') := fired old before now k instants m in
            rs ++ run_on before before' {| looked_app := at_ now; looked_batch := a_batch now;
                                           looked_own := own s [p] now |} m' (k + 1) rest
          else run_on old before' l m (k + 1) rest
      end.
  End OfWindow.

  (** MOD-5, REP-14: the reports over what arrives; [true]: it is taken back. *)
  Definition reports_among (q : Query) (es : list Element) (arrivals : list Arrival) : list (Report * bool) :=
    let ps := map (place_among q es) (windows q) in
    match reported_windows f, ps, starts s ps with
    | Active, _, x :: xs =>
        let start := fold_left Z.min xs x in
        let none := map (fun _ => []) ps in
        map (fun r => (r, false))
          (run s ps start [] {| looked_app := start; looked_batch := 0; looked_own := start |}
             {| reported := none; previous := none |} 0 (at_watermarks start [] arrivals))
    | Every, p :: _, start :: _ =>
        run_alone p match origin p with Some o => o | None => 0 end start [] []
          {| looked_app := start; looked_batch := 0; looked_own := start |} [] 0 arrivals
    | _, _, _ => []
    end.

  (** WIN-24: the keys in the order of their first elements, and what a key's windows look at. *)
  Definition keys (w : Window) (es : list Element) : list (list Z) :=
    fold_left (fun ks e => if existsb (same_list (key w e)) ks then ks else ks ++ [key w e])
              (filter (fun e => stream e =? on w) es) [].
  Definition of_key (w : Window) (k : list Z) (es : list Element) : list Element :=
    flat_map (fun e => if negb (stream e =? on w) || same_list (key w e) k then [e] else
                       match clock f, kind w with OfStream, Tuple | OfKey, _ => [] | OfStream, _ => [aside e] end) es.
  Definition without_key (w : Window) : Window :=
    {| on := on w; kind := kind w; size := size w; stated := stated w; unit := unit w; by_ := []; name := name w;
       triggers := triggers w; lag := lag w |}.
  Definition is_keyed (w : Window) : bool :=
    match by_ w, kind w with [], _ | _, Partition => false | _, _ => true end.
  (** WIN-24: the reports of all keys, with their keys, by what gives those of one; [among]: the arrivals of all. *)
  Definition keyed_reports (reports_of : Query -> list Element -> list Arrival -> list (Report * bool)) (q : Query)
      (all es : list Element) (h : option Z) : list (Report * bool * list Z) :=
    let among := arrivals_among q all es h in
    match filter is_keyed (windows q) with
    | w :: _ =>
        let alone := {| windows := [without_key w]; registered := registered q; operator := operator q;
                        static := static q; patterns := patterns q; selected := selected q |} in
        sort (fun a b => arrival (fst (fst b)) <? arrival (fst (fst a)))
          (flat_map (fun k =>
             let mine := of_key w k es in
             let arrivals := arrivals_among alone all mine h in
             let moved r := {| at_instant := at_instant r; shown := shown r; holding := holding r;
               arrival := index_of (nth (Z.to_nat (arrival r)) (map a_sys arrivals) 0) (map a_sys among) |} in
             map (fun x => (moved (fst x), snd x, k)) (reports_of alone mine arrivals)) (keys w es))
    | [] => map (fun x => (x, [])) (reports_of q es among)
    end.
End Of.

(** REP-14, REP-16, WIN-24: what is emitted; whether it is taken back; and the key. *)
Definition evaluate_by (reports_of : Query -> list Element -> list Arrival -> list (Report * bool))
    (horizon_at : Query -> list Element -> option Z) (answer : list Quad -> Bag) (s : Semantics) (f : Firings) (q : Query)
    (all : list Element) : list (Emitted * bool * list Z) :=
  let es := arriving_elements s f q all in
  let h := horizon_at q es in
  let late_ones := match late_for f with ForStream => elements_of q all (dropped (lateness s)) | _ => [] end in
  let emit := emitted_of s (arrivals_among f q all es h) late_ones in
  let found := keyed_reports f reports_of q all es h in
  match reported_windows f, existsb is_keyed (windows q) with
  | Active, false =>
      map (fun x => (emit x, false, []))
        (outputs answer s q es [] [] (map (fun _ => []) (windows q)) (map (fun x => fst (fst x)) found))
  | _, _ =>
      let with_rows r := (r, answer_over answer s q [] (holding r)) in
      map (fun x => let '(r, b, k) := x in (emit (with_rows r), b, k))
        (filter (fun x => emits (empty s) (snd (with_rows (fst (fst x)))) []) found)
  end.
Definition evaluate_with (answer : list Quad -> Bag) (s : Semantics) (f : Firings) (q : Query) (all : list Element)
    : list (Emitted * bool * list Z) :=
  evaluate_by (reports_among s f) (fun q => horizon_of s (windows q)) answer s f q all.
