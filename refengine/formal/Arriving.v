(** The condition [arrival] (REP-13) and the horizon [last-window] (ENG-1), beside Definitions.v.

    Definitions only.  [evaluate_any] is what is extracted to a program. *)
From Coq Require Import ZArith List Bool.
From RefEngine Require Import Definitions.
Import ListNotations.
Open Scope Z_scope.

(** * §9 The horizon *)

Definition at_horizon (s : Semantics) (h : Horizon) : Semantics :=
  {| t0 := t0 s; closure := closure s; slide_choice := slide_choice s; partial := partial s; not_before := not_before s;
     window_close := window_close s; content_change := content_change s; non_empty := non_empty s;
     periodic := periodic s; close_rule := close_rule s; baseline := baseline s; change_scope := change_scope s;
     expiry_seen := expiry_seen s; missed := missed s; tick := tick s; trigger := trigger s; collection := collection s;
     consumption := consumption s; r2s := r2s s; base := base s; empty := empty s; horizon := h;
     instant := instant s; lateness := lateness s |}.
(** ENG-1: the last instant of the last window that has begun at an instant, if there is one. *)
Definition last_closing (s : Semantics) (e : Z) (p : Placed) : list Z :=
  let w := win p in
  match origin p, kind w with
  | Some o, (Time | Range | Now) =>
      let n := (e + lag w - first_instant s p o 0) / slide s w in
      let is_cut_off := match partial s with Clipped => e + lag w <? first_instant s p o 0 | _ => false end in
      if (least s w <=? n) && negb is_cut_off then [last_instant s p o n] else []
  | _, _ => []
  end.
(** ENG-1: the instant that [last-window] stands for. *)
Definition last_window (s : Semantics) (q : Query) (all : list Element) : Horizon :=
  match elements_of q all (admitted (lateness s)) with
  | [] => NoHorizon
  | e :: es =>
      let passed := match close_rule s, closure s with Passed, (RightOpen | Open) => 1 | _, _ => 0 end in
      let closing := flat_map (last_closing s (maximum (map until es) (until e))) (map (place s q all) (windows q)) in
      HorizonAt (maximum (map (fun t => t + 1 + passed) closing) (maximum (map app es) (app e) + 1))
  end.
Definition settled (s : Semantics) (q : Query) (all : list Element) : Semantics :=
  match horizon s with LastWindow => at_horizon s (last_window s q all) | _ => s end.

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
(** TICK-4, TICK-5, REP-13 *)
Definition run_arrivals (s : Semantics) (ps : list Placed) (start : Z)
    : list Element -> Since -> Looked -> Memory -> Z -> list Arrival -> list Report :=
  fix run_on before since l m k arrivals := match arrivals with
  | [] => []
  | a :: rest =>
      let before' := match element a with Some e => before ++ [e] | None => before end in
      let here := match element a with Some e => [(own s ps a, stream e)] | None => [] end in
      if is_due s l a then
        let ts := interval s ps start (looked_own l) (own s ps a) in
        let is_left := existsb (fun x => fst x =? own s ps a) since && (start <=? own s ps a) &&
                       negb (existsb (Z.eqb (own s ps a)) ts) in
        let step := if first_is_tuple ps then by_id else by_arrival in
        let (rs, m') := step s ps before (own s ps a) k since (ts ++ if is_left then [own s ps a] else []) m in
        rs ++ run_on before' here
                {| looked_app := at_ a; looked_batch := a_batch a; looked_own := own s ps a |} m' (k + 1) rest
      else run_on before' (since ++ here) l m (k + 1) rest
  end.
Definition reports_of_arrivals (s : Semantics) (q : Query) (all : list Element) : list Report :=
  let ps := map (place s q all) (windows q) in
  match starts s ps with
  | [] => []
  | x :: xs =>
      let start := fold_left Z.min xs x in
      let none := map (fun _ => []) ps in
      run_arrivals s ps start [] [] {| looked_app := start; looked_batch := 0; looked_own := start |}
        {| reported := none; previous := none |} 0 (arrivals_of s q all)
  end.

(** * Both *)

Definition reports_any (arriving : bool) (s : Semantics) (q : Query) (all : list Element) : list Report :=
  let s := settled s q all in if arriving then reports_of_arrivals s q all else reports s q all.
(** As [evaluate], whether the report names [arrival] or not. *)
Definition evaluate_any (arriving : bool) (answer : list Quad -> Bag) (s : Semantics) (q : Query) (all : list Element)
    : list Emitted :=
  let s := settled s q all in
  let arrivals := arrivals_of s q all in
  let late_ones := elements_of q all (dropped (lateness s)) in
  map (fun x => let a_sys_of := nth (Z.to_nat (arrival (fst x))) (map a_sys arrivals) 0 in
    {| report := fst x; stamped := stamp s arrivals (fst x);
       triggered_by := nth (Z.to_nat (arrival (fst x))) (map at_ arrivals) 0;
       late := Z.of_nat (length (filter (fun e => sys e <? a_sys_of) late_ones));
       rows := snd x |})
    (outputs answer s q (elements_of q all (admitted (lateness s))) [] [] (map (fun _ => []) (windows q))
       (reports_any arriving s q all)).
(** Nothing else has changed. *)
Theorem evaluate_any_is_evaluate answer s q all :
  horizon s <> LastWindow -> evaluate_any false answer s q all = evaluate answer s q all.
Proof.
  intros H; assert (E : settled s q all = s) by (unfold settled; destruct (horizon s); congruence).
  unfold evaluate_any, reports_any; now rewrite !E.
Qed.
