(** One window of the kind [time] or [range] over points: what most entries of "What no stream can tell apart"
    are about.  Its evaluation is a machine with one content, on which the harder theorems are proved. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows Alike Equivalences Choices.
Import ListNotations.
Open Scope Z_scope.

(** * The machine *)

(** What decides an evaluation: contents, conditions, intervals, and which arrivals are looked at. *)
Record Machine := {
  holds : Z -> list Element -> Content;
  meets_all : Z -> Z -> list Element -> Content -> bool; (* own instant, t, what came before, what is compared *)
  compares : Content -> Content -> Content; (* of what was last reported and what was there at the instant before *)
  gap : Missed; instants : Z -> Z -> list Z; looks : Looked -> Arrival -> bool; owns : Arrival -> Z }.
Section Machine.
  Variable M : Machine.
  Fixpoint look (before : list Element) (own : Z) (ts : list Z) (last prev : Content)
      : list (Z * Content) * (Content * Content) :=
    match ts with
    | [] => ([], (last, prev))
    | t :: rest =>
        let c := holds M t before in
        let ok := meets_all M own t before (compares M last prev) in
        let counts := match gap M with All => ok | Latest => false end in
        let (rs, m) := look before own rest (if counts then c else last) c in
        (if ok then (t, c) :: rs else rs, m)
    end.
  Definition arrive (before : list Element) (own : Z) (ts : list Z) (last prev : Content)
      : list (Z * Content) * (Content * Content) :=
    let (rs, m) := look before own ts last prev in
    match gap M, rev rs with
    | Latest, r :: _ => ([r], (snd r, snd m))
    | _, _ => (rs, m)
    end.
  Definition next (a : Arrival) : Looked := {| looked_app := at_ a; looked_batch := a_batch a; looked_own := owns M a |}.
  Definition with_element (before : list Element) (a : Arrival) : list Element :=
    match element a with Some e => before ++ [e] | None => before end.
  Fixpoint go (before : list Element) (l : Looked) (last prev : Content) (k : Z) (arrivals : list Arrival)
      : list (Z * Z * Content) :=
    match arrivals with
    | [] => []
    | a :: rest =>
        if looks M l a then
          let (rs, m) := arrive before (owns M a) (instants M (looked_own l) (owns M a)) last prev in
          map (fun r => (fst r, k, snd r)) rs ++ go (with_element before a) (next a) (fst m) (snd m) (k + 1) rest
        else go (with_element before a) l last prev (k + 1) rest
    end.
End Machine.

(** * The machine of a semantics and a window *)

Definition machine (s : Semantics) (p : Placed) (start : Z) : Machine :=
  {| holds := content s p;
     meets_all := fun o t before c => timely s o t p && worthy s t before p c;
     compares := fun last prev => match baseline s with LastReport => last | PreviousInstant => prev end;
     gap := missed s; instants := interval s [p] start; looks := is_due s; owns := own s [p] |}.
Definition seen_of (x : Z * Z * Content) : Z * Z * list Content := (fst (fst x), snd (fst x), [snd x]).

Section Bridge.
  Variables (s : Semantics) (p : Placed) (start : Z).
  Hypothesis no_tuple : kind (win p) <> Tuple.
  Hypothesis can_trigger : trigger s = Explicit -> triggers (win p) = true. (* QRY-5 *)
  Let M := machine s p start.
  Lemma fires_alone b : fires s [(win p, b)] = b.
  Proof. unfold fires; destruct (trigger s); cbn; rewrite ?orb_false_r, ?andb_true_r; trivial; now rewrite can_trigger. Qed.
  Let mem last prev := {| reported := [last]; previous := [prev] |} : Memory.
  Lemma look_is_visit before o k ts last prev :
    map seen (fst (visit s [p] before o k ts (mem last prev))) =
    map (fun r => seen_of (fst r, k, snd r)) (fst (look M before o ts last prev)) /\
    snd (visit s [p] before o k ts (mem last prev)) =
    mem (fst (snd (look M before o ts last prev))) (snd (snd (look M before o ts last prev))).
  Proof.
    revert last prev; induction ts as [|t ts IH]; intros; cbn [visit look]; [split; reflexivity|].
    assert (C : combine [p] (compared_with s (mem last prev)) = [(p, compares M last prev)])
      by (unfold compared_with, mem; cbn; destruct (baseline s); reflexivity).
    rewrite C; cbn [map fst snd]; rewrite fires_alone.
    change (timely s o t p && worthy s t before p (compares M last prev)) with (meets_all M o t before (compares M last prev)).
    set (ok := meets_all M o t before _); cbv zeta; change (gap M) with (missed s).
    change (holds M t before) with (content s p t before).
    replace {| reported := if match missed s with All => ok | Latest => false end
                           then contents s [p] t before else reported (mem last prev);
               previous := contents s [p] t before |}
      with (mem (if match missed s with All => ok | Latest => false end then content s p t before else last)
                (content s p t before)) by (unfold mem; now destruct (missed s), ok).
    match goal with |- context [look M before o ts ?a ?b] => specialize (IH a b);
      destruct (visit s [p] before o k ts (mem a b)), (look M before o ts a b) as [rs2 m2] end.
    cbn [fst snd] in *; destruct IH as [E ->]; destruct ok; cbn [map]; rewrite E; split; reflexivity.
  Qed.
  Lemma arrive_is_by_instant before o k ts last prev :
    map seen (fst (by_instant s [p] before o k ts (mem last prev))) =
    map (fun r => seen_of (fst r, k, snd r)) (fst (arrive M before o ts last prev)) /\
    snd (by_instant s [p] before o k ts (mem last prev)) =
    mem (fst (snd (arrive M before o ts last prev))) (snd (snd (arrive M before o ts last prev))).
  Proof.
    unfold by_instant, arrive; destruct (look_is_visit before o k ts last prev) as [E Em].
    destruct (visit s [p] before o k ts (mem last prev)) as [rs m], (look M before o ts last prev) as [rs' m'].
    cbn [fst snd] in *; subst m; change (gap M) with (missed s); destruct (missed s); [now split|].
    apply (f_equal (@rev _)) in E as R; rewrite <- !map_rev in R.
    destruct (rev rs) as [|r ?], (rev rs') as [|r' ?]; cbn [map] in R; try discriminate; [now split|].
    injection R as R1 R2 R3 _; cbn [fst snd map]; split; [unfold seen, seen_of; cbn; congruence|].
    unfold mem; cbn; now rewrite R3.
  Qed.
  Lemma go_is_run before l last prev k arrivals :
    map seen (run s [p] start before l (mem last prev) k arrivals) =
    map seen_of (go M before l last prev k arrivals).
  Proof.
    revert before l last prev k; induction arrivals as [|a rest IH]; intros; cbn [run go]; [reflexivity|].
    change (looks M l a) with (is_due s l a); destruct (is_due s l a); [|apply IH].
    replace (first_is_tuple [p]) with false by (cbn; now destruct (kind (win p))).
    change (owns M a) with (own s [p] a); change (instants M) with (interval s [p] start).
    set (ts := interval _ _ _ _ _).
    destruct (arrive_is_by_instant before (own s [p] a) k ts last prev) as [E Em].
    destruct (by_instant s [p] before (own s [p] a) k ts (mem last prev)) as [rs m].
    destruct (arrive M before (own s [p] a) ts last prev) as [rs' m']; cbn [fst snd] in *; subst m.
    now rewrite !map_app, E, map_map, IH.
  Qed.
End Bridge.

(** What a query of one window reports. *)
Definition start_of (s : Semantics) (p : Placed) : Z := match origin p with Some o => s0_at s p o | None => 0 end.
Definition none_looked (x : Z) : Looked := {| looked_app := x; looked_batch := 0; looked_own := x |}.
Theorem one_window s q all w o :
  windows q = [w] -> kind w <> Tuple -> (trigger s = Explicit -> triggers w = true) -> origin (place s q all w) = Some o ->
  let start := s0_at s (place s q all w) o in
  map seen (reports s q all) =
  map seen_of (go (machine s (place s q all w) start) [] (none_looked start) [] [] 0 (arrivals_of s q all)).
Proof.
  intros W K T O start; unfold reports; rewrite W; cbn [map]; unfold starts; cbn [flat_map].
  unfold s0; rewrite O; cbn [option_map List.app fold_left]; fold start.
  now rewrite <- (go_is_run s (place s q all w) start K T).
Qed.

(** * Facts on intervals *)

Lemma interval_in s ps start a b t : In t (interval s ps start a b) -> start <= t /\ a <= t <= b.
Proof.
  unfold interval; rewrite filter_In, in_app_iff; intros [[H|H] L]; [apply in_upto in H; lia|].
  destruct (a =? b) eqn:E; cbn in H; [destruct H as [<-|[]]; lia|].
  destruct (expiry_seen s); [easy|]; destruct (a <? b) eqn:Lt; cbn in H; [|easy].
  destruct (moves s ps b); [destruct H as [<-|[]]; lia|easy].
Qed.
Lemma interval_before s ps start since now :
  filter (fun t => t <? now) (interval s ps start since now) = upto (Z.max start since) now.
Proof.
  rewrite <- filter_from; unfold interval; rewrite !filter_app, filter_from; set (b := _ || _).
  assert (L : filter (fun t => t <? now) (filter (fun t => start <=? t) (if b then [now] else [])) = []).
  { destruct b; cbn; [|reflexivity]; destruct (start <=? now); cbn; [|reflexivity]; now rewrite Z.ltb_irrefl. }
  rewrite L, app_nil_r; apply filter_all; intros t H; apply in_upto in H; lia.
Qed.

(** * Elements come in the order of app *)

Lemma sort_in_order f es :
  (forall a b, f a b = true -> app b <= app a) -> (forall a b, f a b = false -> app a <= app b) -> in_order (sort f es).
Proof.
  intros T F; induction es as [|e es IH]; cbn; [exact I|].
  assert (Ins : forall xs, in_order xs -> in_order (insert f e xs)).
  { induction xs as [|x xs IHx]; cbn; [easy|]; intros [O1 O2]; destruct (f e x) eqn:E.
    - split; [|now apply IHx]; intros y Hy; apply in_insert in Hy as [->|Hy]; [now apply T|now apply O1].
    - split; [|split; assumption]; intros y [->|Hy]; apply F in E; [assumption|]; specialize (O1 y Hy); lia. }
  now apply Ins.
Qed.
Lemma arriving_in_order s q all : in_order (arriving s q all).
Proof. apply sort_in_order; intros a b; unfold comes_after; lia. Qed.
Lemma arriving_in s q all e : In e (arriving s q all) -> In e all.
Proof.
  unfold arriving; rewrite in_sort; unfold elements_of; intros H; apply in_flat_map in H as (n & _ & H).
  now apply in_admitted, filter_In in H.
Qed.
Lemma arriving_stream s q all w e : windows q = [w] -> In e (arriving s q all) -> stream e = on w.
Proof.
  intros W; unfold arriving; rewrite in_sort; unfold elements_of; rewrite W; cbn; rewrite app_nil_r; intros H.
  apply in_admitted, filter_In in H; lia.
Qed.
