(** §4: the formulas of WIN-10, WIN-11 and WIN-12 meet their sentences. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions.
Open Scope Z_scope.

Lemma ceil_div_spec a b n : 0 < b -> ceil_div a b <= n <-> a <= n * b.
Proof. intros Hb; unfold ceil_div; split; intros; Z.div_mod_to_equations; nia. Qed.

(** WIN-10: t0 is the least of the instants offset + mβ whose window has a last instant ≥ t1. *)
Theorem epoch_is_the_least s reg w offset t l :
  t0 s = Epoch (OffsetAt offset) -> not_before s = None -> span w <> 0 -> 0 < slide s w ->
  exists o, origin_of s reg w (Some t) (Some l) = Some o /\ (exists m, o = offset + m * slide s w) /\
    t <= o + span w + high s w /\
    forall m, t <= offset + m * slide s w + span w + high s w -> o <= offset + m * slide s w.
Proof.
  intros E N Hω Hβ; unfold origin_of, not_earlier; rewrite E, N; cbn; replace (span w =? 0) with false by lia.
  eexists; split; [reflexivity|]; split; [eexists; reflexivity|].
  pose proof (fun n => ceil_div_spec (t - (offset + span w + high s w)) (slide s w) n Hβ) as C.
  set (c := ceil_div _ _) in *; split; [|intros m Hm].
  - specialize (C c); lia.
  - specialize (C m); nia.
Qed.

(** WIN-10: by [epoch-latest] t0 is the greatest of these instants whose window holds t1; if none does, the least
    as before. *)
Theorem epoch_latest_is_the_last s reg w offset t l :
  t0 s = EpochLatest (OffsetAt offset) -> not_before s = None -> span w <> 0 -> 0 < slide s w ->
  exists o, origin_of s reg w (Some t) (Some l) = Some o /\ (exists m, o = offset + m * slide s w) /\
    o + low s w <= t + slide s w /\
    forall m, let o' := offset + m * slide s w in
      o' + low s w <= t <= o' + span w + high s w -> o' <= o /\ o + low s w <= t <= o + span w + high s w.
Proof.
  intros E N Hω Hβ; unfold origin_of, not_earlier; rewrite E, N; cbn; replace (span w =? 0) with false by lia.
  eexists; split; [reflexivity|].
  set (β := slide s w) in *; set (c := (t - (offset + low s w)) / β).
  assert (C : c * β <= t - (offset + low s w) < c * β + β) by (unfold c; Z.div_mod_to_equations; nia).
  destruct (t <=? _) eqn:L; [apply Z.leb_le in L|apply Z.leb_gt in L].
  - split; [now exists c|]; split; [lia|]; intros m; cbn zeta; intros H.
    assert (m <= c) by nia; split; [nia|lia].
  - split; [exists (c + 1); lia|]; split; [lia|]; intros m; cbn zeta; intros H.
    assert (m <= c) by nia; exfalso; nia.
Qed.

(** WIN-11: [least] is the number of the first window with o < t0 < c, over () t0 + 1 < c, or 0. *)
Theorem least_spec s w o n :
  partial s <> Suppressed -> 0 <= cut s w -> 0 < slide s w ->
  least s w <= n <-> 0 <= n \/
    (o + n * slide s w < o /\ o + match closure s with Open => 1 | _ => 0 end < o + n * slide s w + span w).
Proof.
  intros P Hω Hβ; unfold least.
  assert (0 <= cut s w / slide s w) by (apply Z.div_pos; lia).
  rewrite Z.max_r by assumption; pose proof (ceil_div_spec (- cut s w) (slide s w) n Hβ) as C.
  unfold ceil_div in C; rewrite Z.opp_involutive in C.
  replace (o + n * slide s w + span w) with (o + n * slide s w + cut s w + match closure s with Open => 2 | _ => 1 end) by (unfold cut; lia).
  assert (cut s w >= 0) by lia; generalize dependent (cut s w); intros k **.
  destruct (closure s), (partial s); try congruence; rewrite C; (split; [destruct (Z_le_gt_dec 0 n); [left|right]|intros [|]]; nia).
Qed.

(** WIN-12, condition 1: the window with the greatest n whose last instant is not after t. *)
Theorem range_shows_the_latest s p o t n :
  kind (win p) = Range -> 0 < slide s (win p) -> current_at s p o t = Some n ->
  last_instant s p o n <= t /\ forall m, last_instant s p o m <= t -> m <= n.
Proof.
  intros K Hβ; unfold current_at; rewrite K; destruct (_ <? _); [discriminate|].
  destruct (_ <? _) eqn:L; [discriminate|]; intros [= <-]; unfold last_instant in *.
  split; [|intros m Hm]; Z.div_mod_to_equations; nia.
Qed.

(** WIN-12, condition 3: with [] and t0 + T a multiple of L the window shown ends at τ = ⌊t/L⌋·L. *)
Theorem range_is_cql s p o t n :
  kind (win p) = Range -> closure s = Closed -> 0 < slide s (win p) ->
  (o + size (win p)) mod slide s (win p) = 0 -> current_at s p o t = Some n ->
  let τ := t / slide s (win p) * slide s (win p) in
  first_instant s p o n = τ - size (win p) /\ last_instant s p o n = τ.
Proof.
  intros K C Hβ M Cu; pose proof (range_shows_the_latest s p o t n K Hβ Cu) as [L G]; cbv zeta.
  unfold first_instant, last_instant, low, high, span in *; rewrite C, K in *.
  apply Z.mod_divide in M as [k M]; [|lia].
  set (β := slide s (win p)) in *.
  assert (β * (t / β) <= t) by (apply Z.mul_div_le; lia).
  assert (k + n <= t / β) by (apply Z.div_le_lower_bound; lia).
  specialize (G (t / β - k)); assert (n = t / β - k) by lia; subst n; lia.
Qed.
