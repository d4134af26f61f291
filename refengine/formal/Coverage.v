(** The laws "Coverage" and "Tumbling windows" of docs/laws.md: how many evaluations an element is in. *)
From Coq Require Import ZArith List Bool Lia Permutation.
From RefEngine Require Import Definitions Windows Alike Equivalences Choices OneWindow Single Ticks.
Import ListNotations.
Open Scope Z_scope.

Lemma upto_length a b : Z.of_nat (length (upto a b)) = Z.max 0 (b - a).
Proof. unfold upto; rewrite map_length, seq_length; lia. Qed.
Lemma upto_nodup a b : NoDup (upto a b).
Proof. unfold upto; apply FinFun.Injective_map_NoDup; [intros i j; lia|apply seq_NoDup]. Qed.
Lemma floor_spec a b : 0 < b -> forall n, n <= a / b <-> n * b <= a.
Proof. intros Hb n; split; intros; Z.div_mod_to_equations; nia. Qed.

Section Coverage.
  Variables (s : Semantics) (q : Query) (all : list Element) (w : Window) (o : Z).
  Let p := place s q all w.
  Let es := arriving s q all.
  (** "For one window of the kind `time` or `range`, points, {close} or {close, non-empty}, all windows of a gap,
      and the horizon `flush`." *)
  Hypothesis one : windows q = [w].
  Hypothesis right_kind : kind w = Time \/ kind w = Range.
  Hypothesis points : forall e, In e all -> until e = app e.
  Hypothesis closing : window_close s = true.
  Hypothesis unchanged : content_change s = false.
  Hypothesis no_period : periodic s = None.
  Hypothesis all_in_a_gap : missed s = All.
  Hypothesis flush : horizon s = Flush.
  Hypothesis placed : origin p = Some o.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis sizes : 0 < size w /\ 0 < slide s w /\ 0 <= lag w.
  Hypothesis fits : closure s = Open -> 2 <= size w. (* QRY-5 *)
  Let β := slide s w.
  Let first := first_instant s p o 0.
  Let last := last_instant s p o 0.
  (** How many instants a window has: ω, ω + 1 for [], ω - 1 for (). *)
  Definition width : Z := last - first + 1.
  Lemma width_is : width = match closure s with Closed => size w + 1 | Open => size w - 1 | _ => size w end.
  Proof.
    unfold width, first, last, first_instant, last_instant, low, high, span; change (win p) with w.
    destruct right_kind as [-> | ->]; cbn; destruct (closure s); lia.
  Qed.
  Lemma first_of n : first_instant s p o n = first + n * β.
  Proof. unfold first, first_instant, β; change (win p) with w; lia. Qed.
  Lemma last_of n : last_instant s p o n = last + n * β.
  Proof. unfold last, last_instant, β; change (win p) with w; lia. Qed.
  Let least_ := least s w.
  Lemma least_is : least_ <= 0 /\ last + least_ * β >= first.
  Proof.
    assert (0 <= cut s w).
    { unfold cut, span; destruct right_kind as [-> | ->]; destruct (closure s); try (specialize (fits eq_refl)); lia. }
    assert (0 <= cut s w / β) by (apply Z.div_pos; unfold β; lia).
    assert (β * (cut s w / β) <= cut s w) by (apply Z.mul_div_le; unfold β; lia).
    assert (Sp : cut s w < width /\ size w = span w) by (rewrite width_is; unfold cut, span; destruct right_kind as [-> | ->]; destruct (closure s); lia).
    unfold width in Sp; unfold least_, least; fold β; destruct (partial s); split; nia.
  Qed.

  (** An element's instant as the window sees it, and the window that has it. *)
  Let x (e : Element) := app e + lag w.
  Definition has (n : Z) (e : Element) : bool := (first + n * β <=? x e) && (x e <=? last + n * β).
  (** What a window holds at its last instant. *)
  Lemma content_at_last n b : least_ <= n ->
    content s p (last + n * β) b =
    filter (fun e => has n e && match partial s with Clipped => first <=? x e | _ => true end)
           (filter (fun e => stream e =? on w) (filter (fun e => until e =? app e) b)) \/ exists e, In e b /\ until e <> app e.
  Proof.
    intros L.
    assert (P : (forall e, In e b -> until e = app e) \/ exists e, In e b /\ until e <> app e).
    { clear; induction b as [|e b IH]; [left; easy|]; destruct (Z.eq_dec (until e) (app e)) as [E|E].
      - destruct IH as [IH|(y & Hy & N)]; [left; intros y [<-|Hy]; auto|right; exists y; split; [now right|assumption]].
      - right; exists e; split; [now left|assumption]. }
    destruct P as [P|P]; [left|now right].
    rewrite (filter_all (fun e => until e =? app e)) by (intros e He; apply Z.eqb_eq; auto).
    pose proof least_is as [L0 L1]; destruct sizes as (Sz & Sl & Lg).
    unfold content; rewrite placed.
    assert (C : current s p (last + n * β) = Some n).
    { unfold current; rewrite placed; unfold current_at.
      assert (S : s0_at s p o <= last + n * β) by (unfold s0_at; fold first; nia).
      replace (last + n * β <? s0_at s p o) with false by lia; change (win p) with w; fold last β.
      destruct right_kind as [K|K]; rewrite K.
      - f_equal; unfold ceil_div; fold least_; replace (last + n * β - last) with (n * β) by lia.
        rewrite <- Z.mul_opp_l, Z.div_mul by (unfold β; lia); lia.
      - fold least_; replace (last + n * β - last) with (n * β) by lia; rewrite Z.div_mul by (unfold β; lia).
        replace (n <? least_) with false by lia; reflexivity. }
    rewrite C; change (win p) with w.
    assert (M : forall e, In e (filter (fun e => stream e =? on w) b) -> meets s p o n (last + n * β) e =
                has n e && match partial s with Clipped => first <=? x e | _ => true end).
    { intros e He; apply filter_In in He as [He _]; unfold meets, begins, ends, clipped_first, has, x; change (win p) with w.
      rewrite !first_of, last_of, (P e He); fold first; replace (first + 0 * β) with first by lia.
      destruct right_kind as [-> | ->]; apply eq_true_iff_eq; destruct (partial s); rewrite ?andb_true_r, !andb_true_iff, !Z.leb_le; lia. }
    destruct right_kind as [K|K]; rewrite K; now apply filter_ext_in.
  Qed.

  (** MOD-1: [sys] names an element. *)
  Hypothesis sys_names : forall a b, In a all -> In b all -> sys a = sys b -> a = b.
  Definition is_in (e : Element) (c : Content) : bool := existsb (fun y => sys y =? sys e) c.
  (** How many evaluations have an element in their content. *)
  Definition times (e : Element) : Z :=
    Z.of_nat (length (filter (fun r => is_in e (hd [] (holding r))) (reports s q all))).
  Definition lowest (e : Element) : Z := - ((last - x e) / β).
  Definition highest (e : Element) : Z := (x e - first) / β.
  Lemma has_numbers n e : has n e = true <-> lowest e <= n <= highest e.
  Proof.
    destruct sizes as (_ & Sl & _); fold β in Sl; unfold has, lowest, highest.
    rewrite andb_true_iff, !Z.leb_le, floor_spec by assumption.
    pose proof (ceil_div_spec (x e - last) β n Sl) as C; unfold ceil_div in C.
    replace (- (x e - last)) with (last - x e) in C by lia; lia.
  Qed.
  Lemma number_of_windows e : width / β <= highest e - lowest e + 1 <= - ((- width) / β).
  Proof.
    destruct sizes as (_ & Sl & _); fold β in Sl; unfold highest, lowest, width.
    generalize first last β (x e) Sl; clear; intros f l b y Hb; Z.div_mod_to_equations; nia.
  Qed.
  Lemma in_content_at_last n e : In e es -> least_ <= n ->
    is_in e (content s p (last + n * β) es) = has n e && match partial s with Clipped => first <=? x e | _ => true end.
  Proof.
    intros He L; destruct (content_at_last n es L) as [-> | (y & Hy & N)];
      [|exfalso; apply N, points, (arriving_in s q), Hy].
    unfold is_in; apply eq_true_iff_eq; rewrite existsb_exists; split.
    - intros (y & Hy & E); apply filter_In in Hy as [Hy G]; apply filter_In in Hy as [Hy _]; apply filter_In in Hy as [Hy _].
      apply Z.eqb_eq, sys_names in E; [now subst|now apply (arriving_in s q)|now apply (arriving_in s q)].
    - intros G; exists e; split; [|apply Z.eqb_refl]; rewrite !filter_In; repeat split; [assumption| | |assumption].
      + apply Z.eqb_eq, points, (arriving_in s q), He.
      + apply Z.eqb_eq, (arriving_stream s q all w e one He).
  Qed.
  Lemma the_flush e : In e es -> exists h, horizon_of s (windows q) es = Some h /\ app e + size w + lag w + 2 <= h /\
    forall y, In y es -> app y < h.
  Proof.
    intros He; unfold horizon_of; rewrite flush; destruct es as [|e0 es'] eqn:E; [easy|]; cbn [map].
    eexists; split; [reflexivity|]; rewrite one; cbn [map].
    assert (R : span w = size w) by (unfold span; destruct right_kind as [-> | ->]; reflexivity).
    assert (G : size w + lag w <= maximum [reach s w] 0).
    { cbn; unfold reach; rewrite R; destruct sizes as (? & ? & ?); destruct right_kind as [-> | ->]; lia. }
    assert (U : forall y, In y (e0 :: es') -> app y <= maximum (map until es') (until e0)).
    { intros y Hy; rewrite <- (points y) by (apply (arriving_in s q); fold es; now rewrite E).
      apply maximum_ge; destruct Hy as [->|Hy]; [now left|right; now apply in_map]. }
    destruct sizes as (? & ? & ?); split; [specialize (U e He); lia|intros y Hy; specialize (U y Hy); lia].
  Qed.
  (** An element is in as many evaluations as there are windows that have it, and exist. *)
  Theorem evaluations_with e : In e es -> (partial s = Clipped -> first <= x e) ->
    times e = Z.max 0 (highest e + 1 - Z.max least_ (lowest e)).
  Proof.
    intros He Cl; destruct (the_flush e He) as (h & Hh & Fl & Hl).
    pose proof (reports_are_closings s q all w o h one right_kind placed can_trigger sizes Hh Hl closing
                  ltac:(congruence) all_in_a_gap) as R; fold p es in R; cbv zeta in R.
    set (start := s0_at s p o) in *; set (M := machine s p start) in *.
    match type of R with _ = map _ (fst (closings M ?g es (upto start ?hi) [])) => set (gd := g) in R; set (own_h := hi) in R end.
    assert (Cs : forall ts l, fst (closings M gd es ts l) = map (fun t => (t, content s p t es))
      (filter (fun t => closes_at s p t && has_scope s p t && (negb (non_empty s) || negb (match content s p t es with [] => true | _ => false end))) ts)).
    { induction ts as [|t ts IH]; intros l; cbn [closings filter]; [reflexivity|].
      change (holds M t es) with (content s p t es).
      assert (E : gd t (content s p t es) l = closes_at s p t && has_scope s p t && (negb (non_empty s) || negb (match content s p t es with [] => true | _ => false end))).
      { unfold gd, good; fold p; rewrite no_period, unchanged; cbn; now rewrite !andb_true_r. }
      rewrite E; set (ok := closes_at s p t && _ && _); specialize (IH (if ok then content s p t es else l)).
      destruct (closings M gd es ts _) as [cs l']; cbn [fst] in *; rewrite IH; now destruct ok. }
    rewrite Cs, map_map in R; cbn [fst snd] in R.
    assert (T : times e = Z.of_nat (length (filter (fun t => is_in e (content s p t es))
      (filter (fun t => closes_at s p t && has_scope s p t && (negb (non_empty s) || negb (match content s p t es with [] => true | _ => false end))) (upto start own_h))))).
    { unfold times; f_equal; generalize dependent (reports s q all); intros rs R.
      match type of R with _ = map _ ?xs => generalize dependent xs end; clear; intros ts; revert rs.
      induction ts as [|t ts IH]; intros [|r rs] R; cbn in *; try discriminate; [reflexivity|].
      injection R as _ R2 R; rewrite R2; cbn [hd]; specialize (IH rs R); destruct (is_in e _); cbn; congruence. }
    rewrite T; clear T R Cs.
    destruct sizes as (Sz & Sl & Lg); fold β in Sl; pose proof least_is as [L0 L1].
    rewrite (Permutation_length (l' := map (fun n => last + n * β) (upto (Z.max least_ (lowest e)) (highest e + 1)))).
    - rewrite map_length, upto_length; lia.
    - apply NoDup_Permutation.
      + apply NoDup_filter, NoDup_filter, upto_nodup.
      + apply FinFun.Injective_map_NoDup; [intros i j; nia|apply upto_nodup].
      + intros t; rewrite !filter_In, in_upto, in_map_iff, !andb_true_iff.
        assert (Ca : forall n, least_ <= n -> closes_at s p (last + n * β) = true).
        { intros n Hn; unfold closes_at; rewrite placed; change (win p) with w; fold β last least_.
          replace (last + n * β - last) with (n * β) by lia; rewrite Z.div_mul by lia; rewrite last_of; lia. }
        split.
        * intros (((_ & _) & (C & _) & _) & I); unfold closes_at in C; rewrite placed in C; change (win p) with w in C.
          fold β last least_ in C; rewrite last_of in C; set (n := (t - last) / β) in *; clearbody n; apply andb_true_iff in C as [Cn Ct].
          exists n; split; [lia|]; rewrite in_upto; assert (t = last + n * β) by lia; subst t.
          rewrite in_content_at_last in I by (assumption || lia); apply andb_true_iff in I as [I _]; apply has_numbers in I; lia.
        * intros (n & <- & Hn); apply in_upto in Hn.
          assert (H : has n e = true) by (apply has_numbers; lia).
          assert (I : is_in e (content s p (last + n * β) es) = true).
          { rewrite in_content_at_last by (assumption || lia); rewrite H; destruct (partial s); trivial; apply Z.leb_le; auto. }
          assert (In_e : content s p (last + n * β) es <> []) by (intros E; now rewrite E in I).
          unfold has in H; apply andb_true_iff in H as [H1 H2].
          assert (S : start < last + n * β) by (unfold start, s0_at; fold first; nia).
          assert (Ow : h - 1 <= own_h) by (unfold own_h; cbn; unfold own; change (win p) with w; destruct right_kind as [-> | ->]; destruct (close_rule s), (closure s); lia).
          assert (Wd : last - first <= size w) by (pose proof width_is; unfold width in *; destruct (closure s); lia).
          assert (last + n * β < own_h) by (unfold x in *; nia).
          assert (Sc : has_scope s p (last + n * β) = true).
          { unfold is_in in I; unfold has_scope; destruct (current s p (last + n * β)) eqn:Cu; [reflexivity|].
            exfalso; apply In_e; unfold content; rewrite Cu; now destruct (origin p). }
          repeat split; try lia; auto; [apply Ca; lia|].
          apply orb_true_iff; right; now destruct (content s p (last + n * β) es).
  Qed.
  (** A clipped window has nothing before window 0's first instant. *)
  Lemma times_of_clipped e : In e es -> partial s = Clipped -> x e < first -> times e = 0.
  Proof.
    intros He P F; destruct (the_flush e He) as (h & Hh & Fl & Hl).
    unfold times; rewrite filter_none; [reflexivity|]; intros r Hr.
    pose proof (reports_are_closings s q all w o h one right_kind placed can_trigger sizes Hh Hl closing
                  ltac:(congruence) all_in_a_gap) as R; fold p es in R; cbv zeta in R.
    apply (in_map (fun r => (at_instant r, holding r))) in Hr; rewrite R in Hr; clear R.
    apply in_map_iff in Hr as ((t & c) & E & Hr); injection E as _ E; rewrite <- E; cbn [hd snd].
    match type of Hr with In _ (fst (closings ?M ?g _ ?ts ?l)) =>
      assert (C : forall us l0, In (t, c) (fst (closings M g es us l0)) -> c = content s p t es) end.
    { intros us; induction us as [|u us IH]; intros l0; cbn [closings]; [easy|].
      match goal with |- context [closings ?M ?g es us ?l1] => specialize (IH l1); destruct (closings M g es us l1) end.
      cbn [fst] in *; destruct (good _ _ _ _ _ _ _); [intros [[= <- <-]|H]; [reflexivity|auto]|auto]. }
    apply C in Hr; subst c; unfold is_in; apply not_true_is_false; intros X; apply existsb_exists in X as (y & Hy & S).
    unfold content in Hy; rewrite placed in Hy; destruct (current s p t) as [n|]; [|easy]; change (win p) with w in Hy.
    assert (Hm : In y (filter (meets s p o n t) (filter (fun e => stream e =? on w) es))) by (destruct right_kind as [K|K]; now rewrite K in Hy).
    apply filter_In in Hm as [Hy2 Me]; apply filter_In in Hy2 as [Hy2 _].
    apply Z.eqb_eq, sys_names in S; [subst y|now apply (arriving_in s q)|now apply (arriving_in s q)].
    unfold meets, ends, clipped_first in Me; rewrite P in Me; change (win p) with w in Me; fold first in Me.
    rewrite (points e) in Me by now apply (arriving_in s q).
    unfold x in F; destruct right_kind as [K|K]; rewrite K in Me; lia.
  Qed.
  (** "With w the number of a window's instants (ω, ω + 1 for `[]`, ω − 1 for `()`) and β as honoured, each
      element that is not late is in the contents of at most ⌈w/β⌉ evaluations, and from window 0's last instant (moved back by a lag)
      on in at least ⌊w/β⌋ ..." *)
  Theorem coverage e : In e es ->
    times e <= ceil_div width β /\ (last <= x e -> width / β <= times e).
  Proof.
    intros He; destruct sizes as (Sz & Sl & Lg); fold β in Sl; pose proof (number_of_windows e) as N; pose proof least_is as [L0 L1].
    assert (W : 0 < width) by (rewrite width_is; destruct (closure s); try (specialize (fits eq_refl)); lia).
    assert (0 <= ceil_div width β) by (unfold ceil_div; Z.div_mod_to_equations; nia).
    unfold ceil_div in *.
    assert (D : (partial s = Clipped -> first <= x e) \/ partial s = Clipped /\ x e < first)
      by (destruct (partial s); [left; congruence|left; congruence|destruct (Z_le_gt_dec first (x e)); [left|right; split; [reflexivity|]]; lia]).
    destruct D as [D|[P F]].
    - rewrite (evaluations_with e He D); split; [lia|]; intros L.
      assert (0 <= lowest e) by (unfold lowest; Z.div_mod_to_equations; nia); lia.
    - split; [|intros L; exfalso; unfold width in W; lia].
      rewrite times_of_clipped by assumption; lia.
  Qed.
  (** "... in ω/β of them where that is a whole number and w is ω." *)
  Theorem coverage_whole e k : In e es -> last <= x e -> width = k * β -> times e = k.
  Proof.
    intros He L K; destruct (coverage e He) as [U B]; specialize (B L); destruct sizes as (Sz & Sl & Lg); fold β in Sl.
    unfold ceil_div in U; rewrite K, Z.div_mul in B by lia; rewrite K in U.
    replace (- (k * β)) with (- k * β) in U by lia; rewrite Z.div_mul in U by lia; lia.
  Qed.
  (** "Tumbling windows partition the stream: each element that is not late is in the content of exactly one
      evaluation if it is not before window 0's first instant (moved back by a lag), and else of none. For one window
      of the kind `time` or `range` with β = ω, a slide as stated, `[)` or `(]`, points, {close} or {close, non-empty},
      all windows of a gap, and the horizon `flush`." *)
  Theorem tumbling_windows e : In e es -> β = size w -> closure s <> Closed -> closure s <> Open ->
    times e = if first <=? x e then 1 else 0.
  Proof.
    intros He T C C'; destruct sizes as (Sz & Sl & Lg); fold β in Sl.
    assert (Wd : width = 1 * β) by (rewrite width_is, T; destruct (closure s); congruence || lia).
    pose proof (number_of_windows e) as N; rewrite Wd, Z.div_mul in N by lia.
    replace (- (1 * β)) with (- 1 * β) in N by lia; rewrite Z.div_mul in N by lia.
    assert (Le : least_ = 0).
    { assert (Cw : cut s w = size w - 1)
        by (unfold cut, span; destruct right_kind as [-> | ->]; destruct (closure s); congruence || lia).
      unfold least_, least; fold β; rewrite T, Cw, (Z.div_small (size w - 1)) by lia; destruct (partial s); reflexivity. }
    destruct (first <=? x e) eqn:F; [apply Z.leb_le in F|apply Z.leb_gt in F].
    - rewrite (evaluations_with e He (fun _ => F)), Le.
      assert (0 <= highest e) by (unfold highest; Z.div_mod_to_equations; nia); lia.
    - destruct (partial s) eqn:P; try (now apply times_of_clipped);
        (rewrite (evaluations_with e He) by congruence; rewrite Le;
         assert (highest e < 0) by (unfold highest; Z.div_mod_to_equations; nia); lia).
  Qed.
End Coverage.
