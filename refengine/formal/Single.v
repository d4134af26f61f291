(** "What no stream can tell apart" (docs/laws.md), of one window: triggers, what a content is compared with, expiry
    under window close, the windows of a gap.  Each theorem has the sentence of its entry. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows Alike Equivalences Choices OneWindow.
Import ListNotations.
Open Scope Z_scope.

(** * Machines that are the same but for some parts *)

Record same_parts (M M' : Machine) : Prop := {
  holds_same : forall t b, holds M t b = holds M' t b;
  meets_same : forall o t b c, meets_all M o t b c = meets_all M' o t b c;
  owns_same : forall a, owns M a = owns M' a }.
Lemma machines_have_same_parts s s' p start :
  differ_only_in outside s s' -> same_parts (machine s p start) (machine s' p start).
Proof.
  intros D; constructor; cbn [holds meets_all owns machine]; intros.
  - apply same_content; [fewer D|apply window_is_itself; fewer D].
  - rewrite (same_timely s s' ltac:(fewer D)) with (p' := p).
    + f_equal; apply same_worthy; [fewer D|apply window_is_itself; fewer D].
    + assert (E : periodic s' = periodic s) by (clear - D; equate D; reflexivity); rewrite E; now destruct (periodic s).
    + apply window_is_itself; fewer D.
    + apply beats_are_themselves; fewer D.
  - apply same_owns; fewer D.
Qed.
(** One window, evaluated under two semantics that place it alike. *)
Theorem two_machines s s' q all w o :
  differ_only_in outside s s' -> horizon s' = horizon s -> windows q = [w] -> kind w <> Tuple ->
  (trigger s = Explicit -> triggers w = true) -> (trigger s' = Explicit -> triggers w = true) ->
  origin (place s q all w) = Some o ->
  let p := place s q all w in
  let start := s0_at s p o in
  let arrivals := arrivals_of s q all in
  map seen (reports s q all) = map seen_of (go (machine s p start) [] (none_looked start) [] [] 0 arrivals) /\
  map seen (reports s' q all) = map seen_of (go (machine s' p start) [] (none_looked start) [] [] 0 arrivals).
Proof.
  intros D H W K T T' O p start arrivals; split; [now apply one_window|].
  assert (E : s0_at s' p o = start).
  { unfold start, s0_at, first_instant, low, slide.
    assert (E : closure s' = closure s /\ slide_choice s' = slide_choice s) by (clear - D; equate D; now split).
    destruct E as [-> ->]; reflexivity. }
  pose proof (one_window s' q all w o W K T') as R; cbv zeta in R.
  rewrite (same_place s s' ltac:(fewer D)) in R; fold p in R; rewrite E in R.
  rewrite R by exact O; unfold arrivals; rewrite (same_arrivals s s'); [reflexivity|fewer D|assumption].
Qed.

(** The reports of both are those of their machines. *)
Ltac machines s s' q all w o D :=
  destruct (two_machines s s' q all w o) as [-> ->];
  [fewer D|clear - D; now equate D|assumption|congruence|intros; first [congruence|eauto with nocore]|
   intros; first [congruence|match goal with T : trigger _ = Explicit -> _ |- _ => apply T; congruence end]|assumption|].

Section Same.
  Variables (M M' : Machine).
  Hypothesis parts : same_parts M M'.
  Hypothesis same_compares : forall a b, compares M a b = compares M' a b.
  Hypothesis same_gap : gap M = gap M'.
  Lemma same_look before o ts last prev : look M before o ts last prev = look M' before o ts last prev.
  Proof.
    revert last prev; induction ts as [|t ts IH]; intros; cbn [look]; [reflexivity|].
    now rewrite (holds_same M M' parts), (meets_same M M' parts), same_compares, same_gap, IH.
  Qed.
  Lemma same_arrive before o ts last prev : arrive M before o ts last prev = arrive M' before o ts last prev.
  Proof. unfold arrive; now rewrite same_look, same_gap. Qed.
  Hypothesis same_instants : forall a b, instants M a b = instants M' a b.
  Hypothesis same_looks : forall l a, looks M l a = looks M' l a.
  Lemma same_go before l last prev k arrivals : go M before l last prev k arrivals = go M' before l last prev k arrivals.
  Proof.
    revert before l last prev k; induction arrivals as [|a rest IH]; intros; cbn [go]; [reflexivity|].
    unfold next; rewrite same_looks, same_instants, !(owns_same M M' parts), same_arrive, !IH.
    destruct (arrive _ _ _ _ _ _); now rewrite IH.
  Qed.
End Same.

(** "The triggers any, all and leading, with one window." *)
Theorem triggers_of_one_window s s' q all w o :
  differ_only_in [Trigger_] s s' -> trigger s <> Explicit -> trigger s' <> Explicit ->
  windows q = [w] -> kind w <> Tuple -> origin (place s q all w) = Some o ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros D T T' W K O.
  machines s s' q all w o D.
  f_equal; apply same_go.
  - apply machines_have_same_parts; fewer D.
  - intros; cbn; replace (baseline s') with (baseline s) by (clear - D; now equate D); reflexivity.
  - cbn [gap machine]; clear - D; now equate D.
  - intros; apply same_interval_of; fewer D.
  - intros; cbn; unfold is_due; replace (tick s') with (tick s) by (clear - D; now equate D); reflexivity.
Qed.

(** * What a content is compared with *)

Definition same_as (s : Semantics) (a b : Content) : Prop := differs s a b = false.
Lemma triple_eq x y : same_triple x y = true <-> x = y.
Proof. destruct x as [[a b] c], y as [[a' b'] c']; cbn; rewrite !andb_true_iff, !Z.eqb_eq; intuition congruence. Qed.
Lemma subset_iff xs ys : subset xs ys = true <-> incl xs ys.
Proof.
  unfold subset, incl; rewrite forallb_forall; split; intros H x Hx; specialize (H x Hx).
  - apply existsb_exists in H as (y & Hy & E); apply triple_eq in E; now subst.
  - apply existsb_exists; exists x; split; [assumption|now apply triple_eq].
Qed.
Lemma same_list_iff xs ys : same_list xs ys = true <-> xs = ys.
Proof. unfold same_list; destruct (list_eq_dec Z.eq_dec xs ys); intuition congruence. Qed.
Lemma same_as_iff s a b : same_as s a b <->
  match change_scope s with
  | ByElements => map sys a = map sys b
  | ByGraph => incl (flat_map graph a) (flat_map graph b) /\ incl (flat_map graph b) (flat_map graph a)
  end.
Proof.
  unfold same_as, differs; destruct (change_scope s); rewrite negb_false_iff; [apply same_list_iff|].
  now rewrite andb_true_iff, !subset_iff.
Qed.
Lemma same_as_refl s a : same_as s a a.
Proof. apply same_as_iff; destruct (change_scope s); [reflexivity|split; apply incl_refl]. Qed.
Lemma same_as_sym s a b : same_as s a b -> same_as s b a.
Proof. rewrite !same_as_iff; destruct (change_scope s); [congruence|tauto]. Qed.
Lemma same_as_trans s a b c : same_as s a b -> same_as s b c -> same_as s a c.
Proof.
  rewrite !same_as_iff; destruct (change_scope s); [congruence|]; intros [H H'] [G G']; split; eapply incl_tran; eassumption.
Qed.
Lemma differs_alike s c a b : same_as s a b -> differs s c a = differs s c b.
Proof.
  intros H; apply eq_true_iff_eq; rewrite <- !not_false_iff_true; fold (same_as s c a) (same_as s c b).
  split; intros N S; apply N; eapply same_as_trans; try eassumption; now apply same_as_sym.
Qed.

Lemma time_has_scope s p o t : kind (win p) = Time -> origin p = Some o -> s0_at s p o <= t -> has_scope s p t = true.
Proof. intros K O L; unfold has_scope, current; rewrite O; unfold current_at; rewrite K; replace (t <? _) with false by lia; reflexivity. Qed.

(** "Content change against the last report and against the previous instant, where it is the only condition." *)
Theorem change_alone s s' q all w o :
  differ_only_in [Baseline_] s s' -> baseline s = LastReport -> baseline s' = PreviousInstant ->
  window_close s = false -> content_change s = true -> non_empty s = false -> periodic s = None -> missed s = All ->
  windows q = [w] -> kind w = Time -> (trigger s = Explicit -> triggers w = true) ->
  origin (place s q all w) = Some o ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros D B B' C Ch N P G W K T O.
  assert (T' : trigger s' = trigger s) by (clear - D; equate D; reflexivity).
  assert (G' : missed s' = All) by (rewrite <- G; clear - D; equate D; reflexivity).
  machines s s' q all w o D.
  f_equal; set (p := place s q all w) in *; set (start := s0_at s p o).
  pose proof (machines_have_same_parts s s' p start ltac:(fewer D)) as [Sh Sm So].
  assert (Meets : forall own t b c, start <= t -> meets_all (machine s p start) own t b c = differs s (content s p t b) c).
  { intros own t b c L; cbn; unfold timely, worthy.
    rewrite C, Ch, N, P, (time_has_scope s p o t K O L); cbn; now rewrite !andb_true_r. }
  assert (Look : forall b own ts last prev, (forall t, In t ts -> start <= t) -> same_as s last prev ->
    exists rs last' prev', look (machine s p start) b own ts last prev = (rs, (last', prev')) /\
      snd (look (machine s' p start) b own ts last prev) = snd (look (machine s' p start) b own ts last prev) /\
      (forall any, fst (look (machine s' p start) b own ts any prev) = rs /\
                   snd (snd (look (machine s' p start) b own ts any prev)) = prev') /\ same_as s last' prev').
  { intros b own ts; induction ts as [|t ts IH]; intros last prev L S; [exists [], last, prev; repeat split; assumption|].
    cbn [look]; rewrite Meets by (apply L; now left); change (gap (machine s p start)) with (missed s); rewrite G.
    change (compares (machine s p start) last prev) with (match baseline s with LastReport => last | _ => prev end); rewrite B.
    change (holds (machine s p start) t b) with (content s p t b).
    set (ok := differs s (content s p t b) last).
    assert (S' : same_as s (if ok then content s p t b else last) (content s p t b)).
    { destruct ok eqn:E; [apply same_as_refl|now apply same_as_sym]. }
    destruct (IH _ _ (fun x Hx => L x (or_intror Hx)) S') as (rs & l' & p' & E & _ & A & S'').
    rewrite E; exists (if ok then (t, content s p t b) :: rs else rs), l', p'; repeat split; try assumption;
      rewrite <- Sm, Meets by (apply L; now left);
      change (compares (machine s' p start) any prev) with (match baseline s' with LastReport => any | _ => prev end);
      rewrite B', <- Sh; change (holds (machine s p start) t b) with (content s p t b);
      change (gap (machine s' p start)) with (missed s'); rewrite G', <- (differs_alike s _ _ _ S); fold ok;
      (match goal with |- context [look _ b own ts ?x _] => destruct (A x) as [A1 A2];
         destruct (look (machine s' p start) b own ts x (content s p t b)) end); cbn in *; subst; reflexivity. }
  assert (Go : forall arrivals b l last last' prev k, same_as s last prev ->
    go (machine s p start) b l last prev k arrivals = go (machine s' p start) b l last' prev k arrivals).
  { induction arrivals as [|a rest IH]; intros b l last last' prev k S; cbn [go]; [reflexivity|].
    assert (Lo : looks (machine s' p start) l a = looks (machine s p start) l a).
    { cbn; unfold is_due; replace (tick s') with (tick s) by (clear - D; now equate D); reflexivity. }
    unfold next; rewrite Lo, <- So; destruct (looks (machine s p start) l a); [|now apply IH].
    assert (Iv : forall x y, instants (machine s' p start) x y = instants (machine s p start) x y)
      by (intros; symmetry; apply same_interval_of; fewer D).
    rewrite Iv; set (ts := instants _ _ _).
    destruct (Look b (owns (machine s p start) a) ts last prev) as (rs & l' & p' & E & _ & A & S'); [|assumption|].
    - intros t Ht; now apply interval_in in Ht.
    - unfold arrive; rewrite E; change (gap (machine s p start)) with (missed s); change (gap (machine s' p start)) with (missed s').
      rewrite G, G'; destruct (A last') as [A1 A2].
      destruct (look (machine s' p start) b _ ts last' prev) as [rs2 [l2 p2]]; cbn in *; subst; f_equal; now apply IH. }
  apply Go, same_as_refl.
Qed.
