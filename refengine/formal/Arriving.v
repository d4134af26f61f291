(** The condition [arrival] (REP-13) and the horizon [last-window] (ENG-1), beside Definitions.v and Firings.v.

    Definitions only.  [evaluate_any] is what is extracted to a program. *)
From Coq Require Import ZArith List Bool.
From RefEngine Require Import Definitions Firings.
Import ListNotations.
Open Scope Z_scope.

(** * §9 The horizon *)

(** ENG-1: the last instant of the last window that has begun at an instant, if there is one, or of the session of it. *)
Definition last_closing (s : Semantics) (e : Z) (p : Placed) : list Z :=
  let w := win p in
  match origin p, kind w with
  | Some o, (Time | Range | Now) =>
      let n := (e + lag w - first_instant s p o 0) / slide s w in
      let is_cut_off := match partial s with Clipped => e + lag w <? first_instant s p o 0 | _ => false end in
      if (least s w <=? n) && negb is_cut_off then [last_instant s p o n] else []
  | _, Session => [e + size w - 1]
  | _, _ => []
  end.
(** WIN-24: the windows, and those of each key. *)
Definition placed_apart (s : Semantics) (f : Firings) (q : Query) (es : list Element) (w : Window) : list Placed :=
  if is_keyed w then map (fun k => place_among s q (of_key f w k es) (without_key w)) (keys w es)
  else [place_among s q es w].
(** ENG-1: the horizon, also [last-window]. *)
Definition horizon_at (s : Semantics) (f : Firings) (q : Query) (es : list Element) : option Z :=
  match horizon s, es with
  | LastWindow, [] => None
  | LastWindow, e :: rest =>
      let passed := match close_rule s, closure s with Passed, (RightOpen | Open) => 1 | _, _ => 0 end in
      let closing := flat_map (last_closing s (maximum (map until rest) (until e)))
                              (flat_map (placed_apart s f q es) (windows q)) in
      Some (maximum (map (fun t => t + 1 + passed) closing) (maximum (map app rest) (app e) + 1))
  | _, _ => horizon_of s (windows q) es
  end.

(** * §6 Reports of arrivals *)

(** An arrival since the one last looked at: its own instant, and its stream. *)
Definition Since := list (Z * Z).
(** REP-13: the instants at which the query is tested, each with the stream of the element that came there. *)
Definition visits (since : Since) (ts : list Z) : list (Z * option Z) :=
  flat_map (fun t => match filter (fun x => fst x =? t) since with
                     | [] => [(t, None)]
                     | came => map (fun x => (t, Some (snd x))) came
                     end) ts.
Definition is_about (n : option Z) (p : Placed) : bool :=
  match n with Some n => on (win p) =? n | None => false end.
(** REP-13, REP-6, REP-12 *)
Definition visit_arrivals (s : Semantics) (ps : list Placed) (before : list Element) (own k : Z)
    : list (Z * option Z) -> Memory -> list Report * Memory :=
  fix visit_each ts m := match ts with
  | [] => ([], m)
  | (t, n) :: rest =>
      let ok := fires s (map (fun x => (win (fst x), is_about n (fst x) &&
                  timely s own t (fst x) && worthy s t before (fst x) (snd x)))
                  (combine ps (compared_with s m))) in
      let now := contents s ps t before in
      let counts := match missed s with All => ok | Latest => false end in
      let (rs, m') := visit_each rest
                        {| reported := if counts then now else reported m; previous := now |} in
      (if ok then report_at s ps t k before :: rs else rs, m')
  end.
(** REP-10 *)
Definition by_arrival s ps before own k since ts m : list Report * Memory :=
  let (rs, m') := visit_arrivals s ps before own k (visits since ts) m in
  match missed s, rev rs with
  | Latest, r :: _ => ([r], {| reported := holding r; previous := previous m' |})
  | _, _ => (rs, m')
  end.
(** REP-7 *)
Definition by_id s ps before own k (since : Since) (ts : list Z) (m : Memory) : list Report * Memory :=
  match ps, rev ts with
  | p :: _, final :: earlier =>
      let m1 := match earlier with
                | t :: _ => {| reported := reported m; previous := contents s ps t before |}
                | [] => m end in
      let ok := fires s (map (fun x => (win (fst x), worthy s final before (fst x) (snd x)))
                             (combine ps (compared_with s m1))) in
      let now := contents s ps final before in
      let comes t := existsb (fun x => (fst x =? t) && is_about (Some (snd x)) p) since in
      match filter (fun t => timely s own t p && comes t) (rev ts), ok with
      | t :: _, true => ([report_at s ps t k before], {| reported := contents s ps t before; previous := now |})
      | _, _ => ([], {| reported := reported m; previous := now |})
      end
  | _, _ => ([], m)
  end.
(** REP-13: the instants of an interval, with the arrival's own if another that is to be reported came there. *)
Definition interval_left (s : Semantics) (ps : list Placed) (start since now : Z) (came : Since) : list Z :=
  let ts := interval s ps start since now in
  let is_left := existsb (fun x => fst x =? now) came && (start <=? now) && negb (existsb (Z.eqb now) ts) in
  ts ++ if is_left then [now] else [].
(** TICK-4, TICK-5, REP-13 *)
Definition run_arrivals (s : Semantics) (ps : list Placed) (start : Z)
    : list Element -> Since -> Looked -> Memory -> Z -> list Arrival -> list Report :=
  fix run_on before since l m k arrivals := match arrivals with
  | [] => []
  | a :: rest =>
      let before' := match element a with Some e => before ++ [e] | None => before end in
      let here := match element a with Some e => [(own s ps a, stream e)] | None => [] end in
      if is_due s l a then
        let ts := interval_left s ps start (looked_own l) (own s ps a) since in
        let step := if first_is_tuple ps then by_id else by_arrival in
        let (rs, m') := step s ps before (own s ps a) k since ts m in
        rs ++ run_on before' here
                {| looked_app := at_ a; looked_batch := a_batch a; looked_own := own s ps a |} m' (k + 1) rest
      else run_on before' (since ++ here) l m (k + 1) rest
  end.

(** * §16 Windows that are each reported on their own *)

Section OfWindow.
  Variables (s : Semantics) (f : Firings) (p : Placed) (o : Z).

  (** REP-13: how often windows are tested at t: each time the stream, and whether it is the first time. *)
  Definition visits_of (since : Since) (t : Z) : list (option Z * bool) :=
    match filter (fun x => fst x =? t) since with
    | [] => [(None, true)]
    | x :: rest => (Some (snd x), true) :: map (fun y => (Some (snd y), false)) rest
    end.
  (** REP-14, REP-15, REP-13: as [fired], and once for each arrival; early once. *)
  Definition fired_by_arrival (since : Since) (old before : list Element) (a : Arrival) (k : Z) (ts : list Z)
      (m : list Held) : list (Report * bool) * list Held :=
    let start := hd 0 ts in
    let visit t (v : option Z * bool) (state : list (Report * bool) * list Held) h :=
      let (rs, m) := state in
      let late := (t =? start) && (held_last h <? start) && existsb (fun e => negb (is_in old e)) (held h) in
      let fires := is_about (fst v) p && (late || is_open f t h) && all_hold s f p a t late m h in
      let early := snd v && is_open f t h && is_early s f p a t m h in
      if (s0_at s p o <=? held_last h) && (fires || early)
      then let (new, m') := show f t k m h in (rs ++ new, m') else state in
    fold_left (fun state t => fold_left (fun state v => fold_left (visit t v) (windows_at s f p o t before) state)
                                        (visits_of since t) state) ts ([], m).
  Definition run_by_arrival (start : Z)
      : list Element -> list Element -> Since -> Looked -> list Held -> Z -> list Arrival -> list (Report * bool) :=
    fix run_on old before since l m k arrivals := match arrivals with
    | [] => []
    | a :: rest =>
        let before' := match element a with Some e => before ++ [e] | None => before end in
        let now := at_watermark f start before a in
        let here := match element a with Some e => [(own s [p] now, stream e)] | None => [] end in
        if is_due s l now then
          let instants := interval_left s [p] start (looked_own l) (own s [p] now) since in
          let (rs, m') := fired_by_arrival since old before now k instants m in
          rs ++ run_on before before' here {| looked_app := at_ now; looked_batch := a_batch now;
                                              looked_own := own s [p] now |} m' (k + 1) rest
        else run_on old before' (since ++ here) l m (k + 1) rest
    end.
End OfWindow.

(** * All *)

(** As [reports_among], whether the report names [arrival] or not. *)
Definition reports_of (arriving : bool) (s : Semantics) (f : Firings) (q : Query) (es : list Element)
    (arrivals : list Arrival) : list (Report * bool) :=
  let ps := map (place_among s q es) (windows q) in
  match arriving, reported_windows f, ps, starts s ps with
  | false, _, _, _ => reports_among s f q es arrivals
  | true, Active, _, x :: xs =>
      let start := fold_left Z.min xs x in
      let none := map (fun _ => []) ps in
      map (fun r => (r, false))
        (run_arrivals s ps start [] [] {| looked_app := start; looked_batch := 0; looked_own := start |}
           {| reported := none; previous := none |} 0 (at_watermarks f start [] arrivals))
  | true, Every, p :: _, start :: _ =>
      run_by_arrival s f p match origin p with Some o => o | None => 0 end start [] [] []
        {| looked_app := start; looked_batch := 0; looked_own := start |} [] 0 arrivals
  | _, _, _, _ => []
  end.
Definition reports_any (arriving : bool) (s : Semantics) (f : Firings) (q : Query) (all : list Element) : list Report :=
  let es := arriving_elements s f q all in
  map fst (reports_of arriving s f q es (arrivals_among f q all es (horizon_at s f q es))).
(** As [evaluate_with], whether the report names [arrival] or not, and for each horizon. *)
Definition evaluate_any (arriving : bool) (answer : list Quad -> Bag) (s : Semantics) (f : Firings) (q : Query)
    (all : list Element) : list (Emitted * bool * list Z) :=
  evaluate_by (reports_of arriving s f) (horizon_at s f) answer s f q all.
(** Nothing else has changed. *)
Theorem evaluate_any_is_evaluate_with answer s f q all :
  horizon s <> LastWindow -> evaluate_any false answer s f q all = evaluate_with answer s f q all.
Proof.
  intros H; assert (E : forall es, horizon_at s f q es = horizon_of s (windows q) es)
    by (intros; unfold horizon_at; destruct (horizon s); congruence).
  unfold evaluate_any, evaluate_with, evaluate_by; now rewrite !E.
Qed.
