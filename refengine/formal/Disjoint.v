(** "What no stream can tell apart" (docs/laws.md): change of windows that share no element. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows Alike Equivalences Choices OneWindow Single Ticks Changes.
Import ListNotations.
Open Scope Z_scope.

(** Instants that ascend, from a least one on. *)
Fixpoint ascend (b : Z) (ts : list Z) : Prop :=
  match ts with [] => True | t :: rest => b <= t /\ ascend (t + 1) rest end.
Lemma ascend_weaker b b' ts : b' <= b -> ascend b ts -> ascend b' ts.
Proof. destruct ts; cbn; [trivial|]; intros L [A B]; split; [lia|assumption]. Qed.
Lemma ascend_upto a b tail : ascend (Z.max a b) tail -> ascend a (upto a b ++ tail).
Proof.
  intros T; destruct (Z_le_gt_dec b a) as [L|L]; [rewrite upto_nil by lia; apply (ascend_weaker (Z.max a b)); [lia|exact T]|].
  rewrite Z.max_r in T by lia; replace b with (a + (b - a)) in * by lia.
  unfold upto; replace (a + (b - a) - a) with (b - a) by lia; set (d := b - a) in *.
  assert (D : 0 <= d) by lia; clearbody d; clear L b.
  rewrite <- (Z2Nat.id d D) in T; generalize dependent (Z.to_nat d); clear d D; intros n.
  revert a; induction n as [|n IH]; intros a T; cbn; [apply (ascend_weaker (a + Z.of_nat 0)); [lia|exact T]|].
  split; [lia|]; specialize (IH (a + 1)).
  replace (map (fun i => a + Z.of_nat i) (seq 1 n)) with (map (fun i => (a + 1) + Z.of_nat i) (seq 0 n))
    by (apply map_seq; intros; lia).
  replace (a + 0 + 1) with (a + 1) by lia; apply IH; replace (a + 1 + Z.of_nat n) with (a + Z.of_nat (S n)) by lia; exact T.
Qed.
Lemma interval_ascends s ps start since now : ascend (Z.max start since) (interval s ps start since now).
Proof.
  unfold interval; rewrite filter_app, filter_from; apply ascend_upto.
  set (b := _ || _) in *; destruct b eqn:B; [|exact I]; cbn; destruct (start <=? now) eqn:L; [|exact I]; split; [|exact I].
  unfold b in B; destruct (since =? now) eqn:E; [lia|]; destruct (expiry_seen s); [discriminate|]; cbn in B; lia.
Qed.

Section Disjoint.
  Variables (s s' : Semantics) (q : Query) (all : list Element) (w : Window) (o h : Z).
  Hypothesis fields : differ_only_in [Change_] s s'.
  Let p := place s q all w.
  Let start := s0_at s p o.
  Let es := arriving s q all.
  Let β := slide s w.
  Hypothesis one : windows q = [w].
  Hypothesis time : kind w = Time.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis placed : origin p = Some o.
  Hypothesis sizes : 0 < size w /\ 0 < slide s w /\ 0 <= lag w.
  Hypothesis sys_names : forall a b, In a es -> In b es -> sys a = sys b -> a = b.
  Hypothesis points : forall e, In e all -> until e = app e.
  Hypothesis the_horizon : horizon_of s (windows q) es = Some h.
  Hypothesis later_horizon : forall e, In e es -> app e < h.
  (** "{close, non-empty, content change} and {close, non-empty}, for β ≥ ω (β > ω for `[]`) and change of elements
      against the last report." *)
  Hypothesis with_change : content_change s = true.
  Hypothesis without_change : content_change s' = false.
  Hypothesis closing : window_close s = true.
  Hypothesis not_empty : non_empty s = true.
  Hypothesis no_period : periodic s = None.
  Hypothesis hops : size w + (match closure s with Closed => 1 | _ => 0 end) <= β.
  Hypothesis of_elements : change_scope s = ByElements.
  Hypothesis last_report : baseline s = LastReport.
  Let last := last_instant s p o 0.
  Let first := first_instant s p o 0.
  Let x (e : Element) := app e + lag w.
  Lemma width_at_most_slide : last - first + 1 <= β.
  Proof.
    unfold last, first, last_instant, first_instant, low, high, span; change (win p) with w; rewrite time; cbn.
    destruct (closure s); lia.
  Qed.
  Definition in_window (m : Z) (c : Content) : Prop :=
    forall e, In e c -> In e es /\ first + m * β <= x e <= last + m * β.
  Lemma what_closes t b ow c : (forall e, In e b -> In e es) -> meets_all (machine s' p start) ow t b c = true ->
    exists n, t = last + n * β /\ t < ow /\ in_window n (content s p t b) /\ content s p t b <> [].
  Proof.
    intros Hb; cbn; rewrite andb_true_iff; unfold timely, worthy.
    assert (E : window_close s' = window_close s /\ non_empty s' = non_empty s /\ closure s' = closure s /\ slide_choice s' = slide_choice s /\ partial s' = partial s)
      by (clear - fields; equate fields; repeat split).
    destruct E as (E1 & E2 & E3 & E4 & E5); rewrite E1, E2, closing, not_empty; cbn; rewrite !andb_true_iff.
    rewrite (held_alike s s' q all w o ltac:(fewer fields) placed); fold p; intros ((((C & T) & _) & _) & (_ & N)).
    unfold closes_at in C; rewrite placed in C; unfold last_instant, least, cut, slide, high in C; rewrite E3, E4, E5 in C.
    fold (slide s (win p)) (high s (win p)) in C; fold (last_instant s p o 0) in C; fold (cut s (win p)) in C; fold (least s (win p)) in C.
    change (win p) with w in C; fold β last in C; set (n := (t - last) / β) in *; clearbody n.
    apply andb_true_iff in C as [Ln Tn]; apply Z.eqb_eq in Tn.
    assert (La : o + n * β + span w + high s w = last + n * β) by (unfold last, last_instant; change (win p) with w; lia).
    assert (Lt : t = last + n * β) by lia.
    exists n; split; [assumption|split; [lia|split]].
    - intros e He; unfold content in He; rewrite placed in He.
      assert (Cu : current s p t = Some n \/ t < s0_at s p o).
      { unfold current; rewrite placed; unfold current_at; change (win p) with w; rewrite time; fold last β.
        destruct (t <? s0_at s p o) eqn:S; [right; lia|left]; f_equal.
        unfold ceil_div; replace (- (t - last)) with (- n * β) by lia; destruct sizes as (_ & Sl & _).
        rewrite Z.div_mul by (fold β in Sl; lia); lia. }
      destruct Cu as [Cu|Cu]; [|unfold current in He; rewrite placed in He; unfold current_at in He; replace (t <? s0_at s p o) with true in He by lia; easy].
      rewrite Cu in He; change (win p) with w in He; rewrite time in He; apply filter_In in He as [He Me]; apply filter_In in He as [He _].
      specialize (Hb e He); split; [assumption|].
      unfold meets, begins, ends, clipped_first in Me; change (win p) with w in Me; rewrite time in Me.
      rewrite (points e) in Me by now apply (arriving_in s q).
      assert (Fi : forall m, first_instant s p o m = first + m * β) by (intros; unfold first, first_instant, β; change (win p) with w; lia).
      rewrite !Fi in Me; unfold x; destruct (partial s); lia.
    - destruct (content s p t b); [discriminate|congruence].
  Qed.
  Lemma new_window m t b ow c : (forall e, In e b -> In e es) -> in_window m c -> last + m * β < t ->
    meets_all (machine s p start) ow t b c = meets_all (machine s' p start) ow t b c.
  Proof.
    intros Hb Im Lt.
    assert (E : forall d, meets_all (machine s p start) ow t b d = meets_all (machine s' p start) ow t b d && differs s (content s p t b) d).
    { intros d; cbn; unfold timely, worthy; rewrite <- (same_scope s s' p p t (placed_itself s s' ltac:(fewer fields) p)).
      rewrite (held_alike s s' q all w o ltac:(fewer fields) placed); fold p.
      assert (E : window_close s' = window_close s /\ non_empty s' = non_empty s /\ closure s' = closure s /\
                  slide_choice s' = slide_choice s /\ partial s' = partial s /\ periodic s' = periodic s)
        by (clear - fields; equate fields; repeat split).
      destruct E as (E1 & E2 & E3 & E4 & E5 & E6); rewrite E1, E2, E6, with_change, without_change, no_period.
      assert (Cl : closes_at s' p t = closes_at s p t) by (unfold closes_at, last_instant, least, cut, slide, high; now rewrite E3, E4, E5).
      rewrite Cl; cbn; destruct (differs s (content s p t b) d); now rewrite ?andb_true_r, ?andb_false_r. }
    rewrite E; destruct (meets_all (machine s' p start) ow t b c) eqn:Me; [cbn|reflexivity].
    destruct (what_closes t b ow c Hb Me) as (n & Tn & _ & In_ & Ne).
    apply not_false_iff_true; intros D; fold (same_as s (content s p t b) c) in D; apply same_as_iff in D; rewrite of_elements in D.
    destruct (content s p t b) as [|e xs]; [congruence|].
    assert (Hs : In (sys e) (map sys c)) by (rewrite <- D; now left).
    apply in_map_iff in Hs as (y & S & Hy); destruct (Im y Hy) as [Ey [_ Uy]], (In_ e (or_introl eq_refl)) as [Ee [Le _]].
    apply sys_names in S; [subst y|assumption|assumption].
    pose proof width_at_most_slide; destruct sizes as (_ & Sl & _); fold β in Sl.
    assert (m < n) by nia; assert (m + 1 <= n) by lia; assert ((m + 1) * β <= n * β) by nia; nia.
  Qed.
  Let known (b : Z) (c : Content) : Prop := exists m, in_window m c /\ (c = [] \/ last + m * β < b).
  Lemma known_meets b0 t b ow c : (forall e, In e b -> In e es) -> known b0 c -> b0 <= t ->
    meets_all (machine s p start) ow t b c = meets_all (machine s' p start) ow t b c.
  Proof.
    intros Hb (m & Im & [->|Lt]) L; [|apply (new_window m); auto; lia].
    destruct sizes as (_ & Sl & _); fold β in Sl.
    apply (new_window (- (Z.abs (last - t) + 1))); [assumption|intros e []|nia].
  Qed.
  Theorem change_of_disjoint_windows : map seen (reports s q all) = map seen (reports s' q all).
  Proof.
    destruct (placed_machines s s' q all w o ltac:(fewer fields) one ltac:(congruence) can_trigger placed) as (-> & -> & Ow & Iv & Lo & Cm & Gp).
    fold p start in Ow, Iv, Lo, Cm, Gp |- *; f_equal.
    set (M := machine s p start) in *; set (M' := machine s' p start) in *.
    assert (Sh : forall t b, holds M' t b = holds M t b) by (intros; cbn; apply (held_alike s s' q all w o); [fewer fields|exact placed]).
    assert (Cl : forall a b, compares M a b = a) by (intros; cbn; now rewrite last_report).
    assert (Look : forall b ow ts b0 la prev, (forall e, In e b -> In e es) -> ascend b0 ts -> known b0 la ->
      look M' b ow ts la prev = look M b ow ts la prev /\
      Forall (fun r => known ow (snd r)) (fst (look M b ow ts la prev)) /\
      (fst (snd (look M b ow ts la prev)) = la \/ known ow (fst (snd (look M b ow ts la prev))))).
    { intros b ow ts; induction ts as [|t ts IH]; intros b0 la prev Hb As Kn; cbn [look];
        [repeat split; auto; constructor|].
      destruct As as [A As]; rewrite Cm, Gp, !Sh, !Cl.
      pose proof (known_meets b0 t b ow la Hb Kn A) as Km; fold M M' in Km; rewrite <- Km; set (ok := meets_all M ow t b la).
      assert (Kt : ok = true -> known ow (holds M t b) /\ known (t + 1) (holds M t b)).
      { unfold ok; intros Ok; rewrite Km in Ok.
        destruct (what_closes t b ow la Hb Ok) as (n & Tn & Lt & In_ & _); split; exists n; (split; [exact In_|right; lia]). }
      set (l := if match gap M with All => ok | Latest => false end then holds M t b else la).
      assert (Kl : known (t + 1) l /\ (l = la \/ known ow l)).
      { destruct Kn as (m & Im & D).
        assert (K0 : known (t + 1) la) by (exists m; split; [assumption|destruct D; [now left|right; lia]]).
        unfold l; destruct (gap M); [destruct ok eqn:Ok; [destruct (Kt eq_refl); auto|auto]|auto]. }
      destruct (IH (t + 1) l (holds M t b) Hb As (proj1 Kl)) as (-> & F & La).
      destruct (look M b ow ts l _) as [rs mm]; cbn [fst snd] in *; split; [reflexivity|split].
      - destruct ok eqn:Ok; [constructor; [now apply Kt|assumption]|assumption].
      - destruct La as [La|La]; [rewrite La; apply Kl|now right]. }
    assert (Arrive : forall b ow ts b0 la prev, (forall e, In e b -> In e es) -> ascend b0 ts -> known b0 la ->
      arrive M' b ow ts la prev = arrive M b ow ts la prev /\
      (fst (snd (arrive M b ow ts la prev)) = la \/ known ow (fst (snd (arrive M b ow ts la prev))))).
    { intros b ow ts b0 la prev Hb As Kn; destruct (Look b ow ts b0 la prev Hb As Kn) as (A & F & C).
      unfold arrive; rewrite A, Gp; destruct (look M b ow ts la prev) as [rs m]; cbn [fst snd] in *.
      destruct (gap M); [split; [reflexivity|assumption]|]; destruct (rev rs) as [|r ?] eqn:R; [split; [reflexivity|assumption]|].
      split; [reflexivity|right]; cbn; rewrite Forall_forall in F; apply F, in_rev; rewrite R; now left. }
    assert (Go : forall arrivals b l la prev k, (forall e, In e (b ++ elements_in arrivals) -> In e es) ->
      arrive_in_order arrivals -> known (Z.max start (looked_own l)) la ->
      (forall a, In a arrivals -> Z.max start (looked_own l) <= Z.max start (owns M a)) ->
      go M b l la prev k arrivals = go M' b l la prev k arrivals).
    { induction arrivals as [|a rest IH]; intros b l la prev k Hb O Kn Mo; cbn [go]; [reflexivity|].
      assert (Hb' : forall e, In e (with_element b a ++ elements_in rest) -> In e es) by (rewrite with_elements; exact Hb).
      destruct O as (Oa & _ & O).
      unfold next; rewrite Lo, !Ow, Iv; destruct (looks M l a); [|apply IH; auto; intros; apply Mo; now right].
      destruct (Arrive b (owns M a) (instants M (looked_own l) (owns M a)) (Z.max start (looked_own l)) la prev) as (A & K); auto.
      - intros e He; apply Hb, in_app_iff; now left.
      - apply interval_ascends.
      - rewrite A; destruct (arrive M b _ _ _ _) as [rs m]; cbn [fst snd] in *; f_equal; apply IH; auto; cbn [looked_own].
        + specialize (Mo a (or_introl eq_refl)); destruct K as [->|(n & I1 & [I2|I2])].
          * destruct Kn as (n & I1 & [I2|I2]); exists n; (split; [assumption|]); [now left|right; lia].
          * exists n; split; [assumption|now left].
          * exists n; split; [assumption|right; lia].
        + intros c Hc; pose proof (own_grows s q all w o (or_introl time) a c (Oa c Hc)); fold p start M in H; lia. }
    pose proof (arrivals_and_sentinel s q all h the_horizon) as Ar; fold es in Ar; rewrite Ar.
    apply Go.
    - intros e; cbn [List.app]; unfold es; rewrite elements_of_arrivals; trivial.
    - exact (they_arrive_in_order s q all w o h later_horizon).
    - exists 0; split; [intros e []|now left].
    - cbn; intros; lia.
  Qed.
End Disjoint.
