(** "What no stream can tell apart" (docs/laws.md), of rows that never recur: the operators over windows that tumble. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows R2S Alike Equivalences Choices Outputs OneWindow Single Ticks Changes Disjoint Rows.
Import ListNotations.
Open Scope Z_scope.

Lemma ascend_below b ts t : ascend b ts -> In t ts -> b <= t.
Proof. revert b; induction ts as [|u ts IH]; intros b; cbn; [easy|]; intros [A As] [->|H]; [assumption|specialize (IH _ As H); lia]. Qed.

Section Tumbling.
  Variables (s : Semantics) (q : Query) (all : list Element) (w : Window) (o h : Z).
  Let p := place s q all w.
  Let start := s0_at s p o.
  Let es := arriving s q all.
  Let M := machine s p start.
  Let β := slide s w.
  Let last := last_instant s p o 0.
  Let first := first_instant s p o 0.
  Hypothesis one : windows q = [w].
  Hypothesis time : kind w = Time.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis placed : origin p = Some o.
  Hypothesis sizes : 0 < size w /\ 0 < slide s w /\ 0 <= lag w.
  Hypothesis points : forall e, In e all -> until e = app e.
  Hypothesis the_horizon : horizon_of s (windows q) es = Some h.
  Hypothesis later_horizon : forall e, In e es -> app e < h.
  Hypothesis tumbles : slide s w = size w.
  Hypothesis open_at_one_side : closure s <> Closed.
  Hypothesis closing : window_close s = true.
  Hypothesis not_empty : non_empty s = true.
  (** What a report holds is of the window that closes at its instant. *)
  Let of_its_window (r : Z * Content) := exists n, fst r = last + n * β /\ in_window s q all w o n (snd r).
  Lemma ascend_app b c us vs : ascend b us -> (forall u, In u us -> u < c) -> b <= c -> ascend c vs -> ascend b (us ++ vs).
  Proof.
    revert b; induction us as [|u us IH]; intros b A L B C; cbn; [now apply (ascend_weaker c)|].
    destruct A as [A As]; split; [assumption|]; apply IH; auto; [intros x Hx; apply L; now right|].
    specialize (L u (or_introl eq_refl)); lia.
  Qed.
  Lemma looked_closings b ow ts la prev b0 : (forall e, In e b -> In e es) -> ascend b0 ts ->
    ascend b0 (map fst (fst (look M b ow ts la prev))) /\
    Forall (fun r => of_its_window r /\ fst r < ow) (fst (look M b ow ts la prev)).
  Proof.
    intros Hb; revert la prev b0; induction ts as [|t ts IH]; intros la prev b0 As; cbn [look]; [split; [exact I|constructor]|].
    destruct As as [A As]; set (ok := meets_all M ow t b _).
    destruct (IH (if match gap M with All => ok | Latest => false end then holds M t b else la) (holds M t b) (t + 1) As) as [B F].
    destruct ok eqn:Ok.
    - destruct (what_closes s s q all w o ltac:(repeat split) time placed sizes points closing not_empty t b ow _ Hb Ok) as (n & Tn & Lt & In_ & _).
      destruct (look M b ow ts _ _) as [rs m]; cbn [fst map] in *; split; [split; assumption|].
      constructor; [split; [exists n; split; assumption|assumption]|assumption].
    - destruct (look M b ow ts _ _) as [rs m]; cbn [fst map] in *; split; [apply (ascend_weaker (t + 1)); [lia|assumption]|assumption].
  Qed.
  Lemma arrived_closings b ow ts la prev b0 : (forall e, In e b -> In e es) -> ascend b0 ts ->
    ascend b0 (map fst (fst (arrive M b ow ts la prev))) /\
    Forall (fun r => of_its_window r /\ fst r < ow) (fst (arrive M b ow ts la prev)).
  Proof.
    intros Hb As; destruct (looked_closings b ow ts la prev b0 Hb As) as [A F].
    unfold arrive; destruct (look M b ow ts la prev) as [rs m]; cbn [fst] in *; destruct (gap M); [now split|].
    destruct (rev rs) as [|r ?] eqn:R; [now split|]; assert (Hr : In r rs) by (apply in_rev; rewrite R; now left).
    rewrite Forall_forall in F; cbn; split; [split; [|exact I]|constructor; [now apply F|constructor]].
    apply (ascend_below _ _ _ A), in_map, Hr.
  Qed.
  Lemma gone_closings arrivals : forall b l la prev k, arrive_in_order arrivals ->
    (forall e, In e (b ++ elements_in arrivals) -> In e es) ->
    (forall a, In a arrivals -> Z.max start (looked_own l) <= Z.max start (owns M a)) ->
    let rs := map (fun x => (fst (fst x), snd x)) (go M b l la prev k arrivals) in
    ascend (Z.max start (looked_own l)) (map fst rs) /\ Forall of_its_window rs.
  Proof.
    induction arrivals as [|a rest IH]; intros b l la prev k O Hb Mo; cbn [go]; [split; [exact I|constructor]|].
    destruct O as (Oa & _ & O).
    assert (Hb' : forall e, In e (with_element b a ++ elements_in rest) -> In e es) by (rewrite with_elements; exact Hb).
    destruct (looks M l a); [|apply IH; auto; intros; apply Mo; now right].
    destruct (arrived_closings b (owns M a) (instants M (looked_own l) (owns M a)) la prev (Z.max start (looked_own l))) as [A F].
    { intros e He; apply Hb, in_app_iff; now left. }
    { apply interval_ascends. }
    destruct (arrive M b _ _ _ _) as [rs m]; cbn [fst snd] in *.
    destruct (IH (with_element b a) (next M a) (fst m) (snd m) (k + 1) O Hb') as [A2 F2].
    { intros c Hc; cbn [looked_own next]; pose proof (own_grows s q all w o (or_introl time) a c (Oa c Hc)) as G; fold p start M in G; lia. }
    cbv zeta; rewrite !map_app, !map_map; cbn [fst snd].
    rewrite map_map in A2; cbn [fst] in A2; split.
    - apply (ascend_app _ (Z.max start (owns M a))); auto.
      + intros u Hu; apply in_map_iff in Hu as (r & <- & Hr); rewrite Forall_forall in F; specialize (F r Hr); lia.
      + apply Mo; now left.
    - apply Forall_app; split; [|exact F2]; clear - F; induction F as [|[t c] rs [H _] F IH]; cbn; constructor; auto.
  Qed.
  (** No element is in the contents of two reports. *)
  Lemma reports_share_nothing : exists rs : list (Z * Content),
    map holding (reports s q all) = map (fun r => [snd r]) rs /\
    forall rs1 r rs2 r' rs3, rs = rs1 ++ r :: rs2 ++ r' :: rs3 -> forall e, In e (snd r) -> In e (snd r') -> False.
  Proof.
    pose proof (one_window s q all w o one ltac:(congruence) can_trigger placed) as R; cbv zeta in R; fold p start M in R.
    destruct (gone_closings (arrivals_of s q all) [] (none_looked start) [] [] 0) as [A F].
    - rewrite (arrivals_and_sentinel s q all h the_horizon); exact (they_arrive_in_order s q all w o h later_horizon).
    - intros e; cbn [List.app]; rewrite (arrivals_and_sentinel s q all h the_horizon), elements_of_arrivals; trivial.
    - cbn; intros; lia.
    - cbv zeta in A, F; set (rs := map (fun x : Z * Z * Content => (fst (fst x), snd x)) (go M [] (none_looked start) [] [] 0 (arrivals_of s q all))) in *; exists rs; split.
      + transitivity (map (fun x : Z * Z * list Content => snd x) (map seen (reports s q all))); [rewrite map_map; reflexivity|].
        rewrite R; unfold rs; rewrite !map_map; reflexivity.
      + intros rs1 r rs2 r' rs3 E e He He'.
        assert (Lt : fst r < fst r').
        { rewrite E in A; clear - A; rewrite map_app in A; cbn in A; rewrite map_app in A; cbn in A.
          revert A; cbn [looked_own none_looked]; generalize (Z.max start start).
          induction (map fst rs1) as [|u us IH]; intros b A; cbn in A; [|destruct A as [_ A]; exact (IH _ A)].
          destruct A as [_ A]; assert (In (fst r') (map fst rs2 ++ fst r' :: map fst rs3)) by (apply in_app_iff; right; now left).
          pose proof (ascend_below _ _ _ A H); lia. }
        rewrite Forall_forall in F.
        destruct (F r) as (n & Tn & In1); [rewrite E; apply in_app_iff; right; now left|].
        destruct (F r') as (m & Tm & In2); [rewrite E; apply in_app_iff; right; right; apply in_app_iff; right; now left|].
        destruct (In1 e He) as [_ [_ U]], (In2 e He') as [_ [L _]].
        assert (Hop : size w + match closure s with Closed => 1 | _ => 0 end <= slide s w) by (destruct (closure s); [lia|lia|congruence]).
        pose proof (width_at_most_slide s q all w o time Hop) as Wd.
        unfold last, β in Tn, Tm; destruct sizes as (_ & Sl & _); fold p in U, L, Wd.
        set (la := last_instant s p o 0) in *; set (fi := first_instant s p o 0) in *; set (sl := slide s w) in *.
        clearbody la fi sl; clear - Lt Tn Tm U L Wd Sl.
        assert (n < m) by nia; assert ((n + 1) * sl <= m * sl) by nia; nia.
  Qed.

  (** "Rstream, Istream and append, for ω = β, {close, non-empty}, `[)` or `(]`, and rows that never recur." *)
  Variables (answer : list Quad -> Bag) (sa si : Semantics).
  Let over := answer_over answer s q (elements_of q all (admitted (lateness s))).
  Variable derivation : Row -> list Z.
  Hypothesis some_element : forall r, derivation r <> [].
  Hypothesis never_recur : forall c, (forall e, In e c -> In e es) ->
    NoDup (over [c]) /\ forall r, In r (over [c]) <-> incl (derivation r) (map sys c).
  Hypothesis sys_names : forall a b, In a es -> In b es -> sys a = sys b -> a = b.
  Hypothesis fields : differ_only_in [R2S_; Base_] s sa /\ differ_only_in [R2S_; Base_] sa si.
  Hypothesis no_operator : operator q = None.
  Hypothesis operators : r2s s = Rstream /\ r2s sa = Append /\ r2s si = Istream.
  Theorem operators_of_tumbling_windows :
    evaluate answer s q all = evaluate answer sa q all /\ evaluate answer sa q all = evaluate answer si q all.
  Proof.
    destruct fields as [Fa Fi], operators as (Or & Oa & Oi).
    assert (E : lateness sa = lateness s /\ instant sa = instant s /\ closure sa = closure s /\ empty sa = empty s /\ trigger sa = trigger s /\
                slide_choice sa = slide_choice s /\ horizon sa = horizon s)
      by (clear - Fa; equate Fa; repeat split).
    destruct E as (E1 & E2 & E3 & E4 & E5 & E6 & E7).
    assert (Pl : place sa q all w = p) by (apply same_place; fewer Fa).
    assert (Ar : arriving sa q all = es) by (unfold arriving, es, arriving; now rewrite E1).
    assert (Sl : slide sa w = slide s w) by (unfold slide; now rewrite E6).
    assert (A : forall cs, answer_over answer sa q (elements_of q all (admitted (lateness s))) cs = over cs).
    { intros cs; symmetry; unfold over; generalize (elements_of q all (admitted (lateness s))); intros xs; clear - Fa; equate Fa; reflexivity. }
    split.
    2: { apply (append_is_istream sa q all w o h) with (derivation := derivation); rewrite ?Pl, ?Ar, ?E1, ?E5, ?Sl; auto.
         - rewrite <- the_horizon; unfold horizon_of, reach, slide; now rewrite E6, E7.
         - intros c Hc; rewrite A; now apply never_recur. }
    rewrite !evaluate_is, <- (outputs_change_no_report s sa) by fewer Fa.
    assert (Em : forall x, emit_as sa q all x = emit_as s q all x).
    { intros x; unfold emit_as, emitted_of; rewrite (same_arrivals s sa) by (try (fewer Fa); exact E7).
      rewrite E1; unfold stamp, border; now rewrite E2, E3. }
    rewrite (map_ext _ _ Em), E1, one; cbn [map]; f_equal; set (xs := elements_of q all (admitted (lateness s))) in *.
    assert (O : op s q = Rstream) by (unfold op; now rewrite no_operator).
    assert (O' : op sa q = Append) by (unfold op; now rewrite no_operator).
    assert (B0 : over [[]] = []).
    { destruct (over [[]]) as [|r rs] eqn:Eo; [reflexivity|exfalso].
      assert (Hr : In r (over [[]])) by (rewrite Eo; now left).
      apply (proj2 (never_recur [] ltac:(easy))) in Hr; specialize (some_element r); destruct (derivation r) as [|i ?]; [congruence|].
      now specialize (Hr i (or_introl eq_refl)). }
    destruct reports_share_nothing as (rs & Hs & Dis).
    assert (Es : forall r e, In r rs -> In e (snd r) -> In e es).
    { intros r e Hr He; destruct (states_of_reports s q all w o h one time can_trigger placed the_horizon later_horizon) as (sts & Hs2 & _ & In_).
      rewrite Hs in Hs2; assert (Hc : In [snd r] (map (fun x => [held s q all w x]) sts)) by (rewrite <- Hs2; now apply (in_map (fun r => [snd r]))).
      apply in_map_iff in Hc as (x & Ex & Hx); injection Ex as Ex; rewrite <- Ex in He.
      apply (held_in s q all w o time placed x); [intros y Hy; now apply (In_ x)|exact He]. }
    assert (G : forall reps rs0 before kept b b' la, map holding reps = map (fun r : Z * Content => [snd r]) rs0 -> rs = before ++ rs0 ->
      (kept = [] \/ exists r before', before = before' ++ [r] /\ kept = snd r) ->
      outputs answer s q xs b la [kept] reps = outputs answer sa q xs b' la [kept] reps).
    { clear Hs; induction reps as [|r reps IH]; intros [|x rs0] before kept b b' la Hs Er Kp; try discriminate; [reflexivity|].
      injection Hs as Hr Hs; cbn [outputs]; cbv zeta; rewrite O, O', Hr; cbn [combine map fst snd relate].
      rewrite !A; change (answer_over answer s q xs) with over.
      assert (St : still_there (snd x) kept = []).
      { apply filter_none; intros e He; apply not_true_is_false; intros X; apply existsb_exists in X as (i & Hi & Ei).
        apply Z.eqb_eq in Ei; subst i; destruct Kp as [->|(y & before' & -> & ->)]; [easy|].
        apply in_map_iff in Hi as (e' & Se & He').
        assert (In y rs) by (rewrite Er; apply in_app_iff; left; apply in_app_iff; right; now left).
        assert (In x rs) by (rewrite Er; apply in_app_iff; right; now left).
        assert (e' = e) by (apply sys_names; [now apply (Es y)|now apply (Es x)|assumption]); subst e'.
        apply (Dis before' y [] x rs0) with (e := e); auto; rewrite Er, <- app_assoc; reflexivity. }
      rewrite St, E4; unfold more.
      repeat match goal with |- context [fold_left ?f ?l (over [snd x])] => change (fold_left f l (over [snd x])) with (fold_left f (over [[]]) (over [snd x])); rewrite B0; cbn [fold_left] end.
      assert (Nx : forall b1 b2 la1, outputs answer s q xs b1 la1 [snd x] reps = outputs answer sa q xs b2 la1 [snd x] reps).
      { intros; apply (IH rs0 (before ++ [x])); [exact Hs|rewrite Er, <- app_assoc; reflexivity|right; exists x, before; now split]. }
      match goal with |- context [outputs answer s q xs ?b1 ?la1 [snd x] reps] =>
        match goal with |- context [outputs answer sa q xs ?b2 ?la2 [snd x] reps] => rewrite (Nx b1 b2 la1) end end.
      reflexivity. }
    apply (G _ rs []); auto.
  Qed.
End Tumbling.
