(** "What no stream can tell apart" (docs/laws.md), of rows that never recur: append and Istream. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Bodies Windows R2S Alike Equivalences Choices Outputs OneWindow Single Ticks Changes Disjoint.
Import ListNotations.
Open Scope Z_scope.

(** * Differences of bags in which no row is twice *)

Definition is_row_of (b : Bag) (r : Row) : bool := existsb (row_eq r) b.
Lemma is_row_of_iff b r : is_row_of b r = true <-> In r b.
Proof.
  unfold is_row_of; rewrite existsb_exists; split.
  - intros (x & Hx & E); apply row_eq_iff in E; now subst.
  - intros H; exists r; split; [assumption|apply row_eq_refl].
Qed.
Lemma less_one_filter r b : NoDup b -> less_one r b = filter (fun x => negb (row_eq x r)) b.
Proof.
  induction 1 as [|x b N D IH]; cbn; [reflexivity|]; destruct (row_eq x r) eqn:E; cbn; [|now rewrite IH].
  apply row_eq_iff in E; subst; symmetry; apply filter_all; intros y Hy; apply negb_true_iff, not_true_is_false.
  intros E; apply row_eq_iff in E; now subst.
Qed.
Lemma more_filter a b : NoDup a -> more a b = filter (fun r => negb (is_row_of b r)) a.
Proof.
  unfold more; revert a; induction b as [|x b IH]; intros a N; cbn; [symmetry; now apply filter_all|].
  rewrite less_one_filter, IH by (assumption || now apply NoDup_filter).
  clear; unfold is_row_of in *; induction a as [|y a IHa]; cbn; [reflexivity|].
  destruct (row_eq y x) eqn:E; cbn; [exact IHa|]; destruct (existsb (row_eq y) b); cbn; [exact IHa|now rewrite IHa].
Qed.

(** * What is looked at, in order *)

(** An instant, and what arrived before; later is a later instant, and more that arrived. *)
Definition State := (Z * list Element)%type.
Definition later (x y : State) : Prop := fst x <= fst y /\ exists r, snd y = snd x ++ r.
Lemma later_refl x : later x x.
Proof. split; [lia|exists []; now rewrite app_nil_r]. Qed.
Lemma later_trans x y z : later x y -> later y z -> later x z.
Proof. intros [A [r R]] [B [r' R']]; split; [lia|exists (r ++ r')]; now rewrite R', R, app_assoc. Qed.
Fixpoint chain (x : State) (ys : list State) : Prop :=
  match ys with [] => True | y :: rest => later x y /\ chain y rest end.
Lemma chain_from x' x ys : later x' x -> chain x ys -> chain x' ys.
Proof. destruct ys; cbn; [trivial|]; intros L [A B]; split; [now apply (later_trans x' x)|assumption]. Qed.

Section Rows.
  Variables (s : Semantics) (q : Query) (all : list Element) (w : Window) (o h : Z).
  Let p := place s q all w.
  Let start := s0_at s p o.
  Let es := arriving s q all.
  Let M := machine s p start.
  Hypothesis one : windows q = [w].
  Hypothesis time : kind w = Time.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis placed : origin p = Some o.
  Hypothesis sizes : 0 < size w /\ 0 < slide s w /\ 0 <= lag w.
  Hypothesis points : forall e, In e all -> until e = app e.
  Hypothesis the_horizon : horizon_of s (windows q) es = Some h.
  Hypothesis later_horizon : forall e, In e es -> app e < h.
  Definition held (x : State) : Content := content s p (fst x) (snd x).

  Lemma looked_states b ow ts last prev b0 : ascend b0 ts ->
    exists us, map snd (fst (look M b ow ts last prev)) = map (fun t => held (t, b)) us /\ ascend b0 us /\ incl us ts.
  Proof.
    revert last prev b0; induction ts as [|t ts IH]; intros last prev b0 As; cbn [look]; [exists []; repeat split; auto using incl_refl|].
    destruct As as [A As]; set (ok := meets_all M ow t b _).
    destruct (IH (if match gap M with All => ok | Latest => false end then holds M t b else last) (holds M t b) (t + 1) As) as (us & E & Au & I).
    destruct (look M b ow ts _ _) as [rs m]; cbn [fst] in *; destruct ok.
    - exists (t :: us); cbn; rewrite E; repeat split; try assumption; intros u [<-|Hu]; [now left|right; now apply I].
    - exists us; repeat split; [assumption|apply (ascend_weaker (t + 1)); [lia|assumption]|intros u Hu; right; now apply I].
  Qed.
  Lemma ascend_in b ts t : ascend b ts -> In t ts -> b <= t.
  Proof. revert b; induction ts as [|u ts IH]; intros b; cbn; [easy|]; intros [A As] [->|H]; [assumption|specialize (IH _ As H); lia]. Qed.
  Lemma arrived_states b ow ts last prev b0 : ascend b0 ts ->
    exists us, map snd (fst (arrive M b ow ts last prev)) = map (fun t => held (t, b)) us /\ ascend b0 us /\ incl us ts.
  Proof.
    intros As; destruct (looked_states b ow ts last prev b0 As) as (us & E & Au & I).
    unfold arrive; destruct (look M b ow ts last prev) as [rs m]; cbn [fst] in *; destruct (gap M); [exists us; auto|].
    destruct (rev rs) as [|r ?] eqn:R; [exists us; auto|].
    apply (f_equal (@rev _)) in E; rewrite <- !map_rev, R in E; destruct (rev us) as [|u us'] eqn:Ru; [discriminate|].
    assert (Hu : In u us) by (apply in_rev; rewrite Ru; now left).
    injection E as E _; exists [u]; cbn; rewrite E; repeat split; [now apply (ascend_in b0 us)|intros x [<-|[]]; now apply I].
  Qed.
  Lemma chain_states b us b0 B rest : ascend b0 us -> (forall u, In u us -> u <= fst B) -> b0 <= fst B ->
    (exists r, snd B = b ++ r) -> chain B rest -> chain (b0, b) (map (fun t => (t, b)) us ++ rest).
  Proof.
    intros As Le L X C; revert b0 As L; induction us as [|u us IH]; intros b0 As L; cbn [map List.app].
    - apply (chain_from _ B); [split; assumption|assumption].
    - destruct As as [A As]; split; [split; [assumption|exists []; now rewrite app_nil_r]|].
      assert (Hu : u <= fst B) by (apply Le; now left).
      destruct us as [|v us]; [apply (chain_from _ B); [split; assumption|assumption]|].
      apply (chain_from _ (u, b)); [apply later_refl|].
      enough (G : chain (u + 1, b) (map (fun t => (t, b)) (v :: us) ++ rest)).
      { cbn in G |- *; destruct G as [[G1 G2] G3]; split; [split; cbn in *; [lia|assumption]|assumption]. }
      apply IH; auto; [intros x Hx; apply Le; now right|].
      destruct As as [A2 _]; specialize (Le v (or_intror (or_introl eq_refl))); lia.
  Qed.
  Lemma gone_states arrivals : forall b l last prev k, arrive_in_order arrivals ->
    (forall a, In a arrivals -> Z.max start (looked_own l) <= Z.max start (owns M a)) ->
    exists xs, map snd (go M b l last prev k arrivals) = map held xs /\ chain (Z.max start (looked_own l), b) xs /\
      forall x e, In x xs -> In e (snd x) -> In e (b ++ elements_in arrivals).
  Proof.
    induction arrivals as [|a rest IH]; intros b l last prev k O Mo; cbn [go]; [exists []; repeat split; easy|].
    destruct O as (Oa & _ & O).
    assert (X : exists r, with_element b a = b ++ r) by (unfold with_element; destruct (element a) as [e|]; [now exists [e]|exists []; now rewrite app_nil_r]).
    destruct (looks M l a).
    - destruct (arrived_states b (owns M a) (instants M (looked_own l) (owns M a)) last prev (Z.max start (looked_own l))) as (us & E & As & I);
        [apply interval_ascends|].
      destruct (arrive M b _ _ _ _) as [rs m]; cbn [fst snd] in *.
      destruct (IH (with_element b a) (next M a) (fst m) (snd m) (k + 1) O) as (xs & E2 & C & In_).
      { intros c Hc; cbn [looked_own next]; pose proof (own_grows s q all w o (or_introl time) a c (Oa c Hc)) as G; fold p start M in G; lia. }
      exists (map (fun t => (t, b)) us ++ xs); split; [rewrite !map_app, !map_map, E2; f_equal; exact E|].
      rewrite with_elements in In_; split; [|intros x e Hx He; apply in_app_iff in Hx as [Hx|Hx]; [apply in_map_iff in Hx as (u & <- & _); apply in_app_iff; now left|now apply (In_ x)]].
      specialize (Mo a (or_introl eq_refl)); cbn [looked_own next] in C.
      apply (chain_states b us _ (Z.max start (owns M a), with_element b a)); auto.
      intros u Hu; apply I, interval_in in Hu; cbn [fst]; change (owns M a) with (own s [p] a) in *; lia.
    - destruct (IH (with_element b a) l last prev (k + 1) O) as (xs & E2 & C & In_); [intros; apply Mo; now right|].
      rewrite with_elements in In_; exists xs; split; [assumption|split; [|assumption]]; apply (chain_from _ (Z.max start (looked_own l), with_element b a)); [|assumption].
      split; [cbn; lia|assumption].
  Qed.
  (** The contents of reports, one after the other. *)
  Theorem states_of_reports : exists xs, map holding (reports s q all) = map (fun x => [held x]) xs /\ chain (start, []) xs /\
    forall x e, In x xs -> In e (snd x) -> In e es.
  Proof.
    pose proof (one_window s q all w o one ltac:(congruence) can_trigger placed) as R; cbv zeta in R; fold p start M in R.
    destruct (gone_states (arrivals_of s q all) [] (none_looked start) [] [] 0) as (xs & E & C & In_).
    - rewrite (arrivals_and_sentinel s q all h the_horizon); exact (they_arrive_in_order s q all w o h later_horizon).
    - cbn; intros; lia.
    - exists xs; split; [|split; [now rewrite Z.max_id in C|]].
      2: { intros x e Hx He; specialize (In_ x e Hx He); cbn [List.app] in In_; rewrite (arrivals_and_sentinel s q all h the_horizon) in In_; now rewrite elements_of_arrivals in In_. }
      transitivity (map (fun x : Z * Z * list Content => snd x) (map seen (reports s q all))); [rewrite map_map; reflexivity|].
      rewrite R, map_map; transitivity (map (fun c : Content => [c]) (map snd (go M [] (none_looked start) [] [] 0 (arrivals_of s q all))));
        [rewrite map_map; reflexivity|]; now rewrite E, map_map.
  Qed.
  (** An element that has left a content does not come back. *)
  Lemma left_for_good x y z e : later x y -> later y z -> (forall e, In e (snd y) -> In e es) ->
    In e (held x) -> In e (held z) -> In e (held y).
  Proof.
    intros [L1 [r1 E1]] [L2 [r2 E2]] Hb Hx Hz; unfold held, content in *; rewrite placed in *.
    destruct (current s p (fst x)) as [nx|] eqn:Cx; [|easy]; destruct (current s p (fst z)) as [nz|] eqn:Cz; [|easy].
    change (win p) with w in *; rewrite time in *.
    apply filter_In in Hx as [Hx Mx]; apply filter_In in Hz as [Hz Mz].
    unfold current in *; rewrite placed in *; unfold current_at in *; change (win p) with w in *; rewrite time in *.
    destruct (fst x <? s0_at s p o) eqn:Sx; [discriminate|]; destruct (fst z <? s0_at s p o) eqn:Sz; [discriminate|].
    replace (fst y <? s0_at s p o) with false by lia.
    injection Cx as Cx; injection Cz as Cz.
    assert (Hy : In e (filter (fun e => stream e =? on w) (snd y))).
    { apply filter_In in Hx as [Hx St]; apply filter_In; split; [|assumption]; rewrite E1; apply in_app_iff; now left. }
    assert (He : In e es) by (apply filter_In in Hy as [Hy _]; now apply Hb).
    apply filter_In; split; [assumption|].
    set (ny := Z.max (least s w) (ceil_div (fst y - last_instant s p o 0) (slide s w))) in *.
    destruct sizes as (_ & Sl & _).
    assert (Mono : ny <= nz).
    { pose proof (ceil_div_spec (fst y - last_instant s p o 0) (slide s w) (ceil_div (fst z - last_instant s p o 0) (slide s w)) Sl) as C1.
      pose proof (ceil_div_spec (fst z - last_instant s p o 0) (slide s w) (ceil_div (fst z - last_instant s p o 0) (slide s w)) Sl) as C2.
      unfold ny; lia. }
    unfold meets, begins, ends, clipped_first in *; change (win p) with w in *; rewrite time in *.
    rewrite (points e) in * by now apply (arriving_in s q).
    assert (Fi : first_instant s p o ny <= first_instant s p o nz) by (unfold first_instant; change (win p) with w; nia).
    rewrite !andb_true_iff, !Z.leb_le in *; destruct (partial s); lia.
  Qed.

  (** * Append and Istream *)

  Variable answer : list Quad -> Bag.
  Variable s' : Semantics.
  Let over := answer_over answer s q (elements_of q all (admitted (lateness s))).
  (** Rows that never recur: each has one derivation, from elements that arrive. *)
  Variable derivation : Row -> list Z.
  Hypothesis some_element : forall r, derivation r <> [].
  Hypothesis never_recur : forall c, (forall e, In e c -> In e es) ->
    NoDup (over [c]) /\ forall r, In r (over [c]) <-> incl (derivation r) (map sys c).
  Hypothesis sys_names : forall a b, In a es -> In b es -> sys a = sys b -> a = b.
  Lemma held_in x : (forall e, In e (snd x) -> In e es) -> forall e, In e (held x) -> In e es.
  Proof.
    intros Hb e He; apply Hb; unfold held, content in He; rewrite placed in He; destruct (current s p (fst x)); [|easy].
    change (win p) with w in He; rewrite time in He; now apply filter_In in He as [He _]; apply filter_In in He as [He _].
  Qed.
  Lemma new_rows x y z r : later y x -> later x z -> (forall e, In e (snd z) -> In e es) ->
    (forall r, In r (over [held x]) -> In r (over [held y])) -> In r (over [held z]) ->
    In r (over [held y]) <-> In r (over [still_there (held z) (held x)]).
  Proof.
    intros Lx Lz Hb Inc Hr.
    assert (Hx : forall e, In e (snd x) -> In e es) by (destruct Lz as [_ [t E]]; intros e He; apply Hb; rewrite E; apply in_app_iff; now left).
    assert (Hy : forall e, In e (snd y) -> In e es) by (destruct Lx as [_ [t E]]; intros e He; apply Hx; rewrite E; apply in_app_iff; now left).
    pose proof (held_in x Hx) as Ix; pose proof (held_in y Hy) as Iy; pose proof (held_in z Hb) as Iz.
    assert (Is : forall e, In e (still_there (held z) (held x)) -> In e es) by (intros e He; apply filter_In in He as [He _]; auto).
    rewrite (proj2 (never_recur _ Iy)), (proj2 (never_recur _ Is)); apply (proj2 (never_recur _ Iz)) in Hr; split.
    - intros D i Hi; pose proof (D i Hi) as A; pose proof (Hr i Hi) as B.
      apply in_map_iff in A as (e & Se & He); apply in_map_iff in B as (e' & Se' & He').
      assert (e = e') by (apply sys_names; auto; congruence); subst e'.
      apply in_map_iff; exists e; split; [assumption|]; apply filter_In; split; [assumption|].
      apply existsb_exists; exists (sys e); split; [|apply Z.eqb_refl]; apply in_map, (left_for_good y x z); auto.
    - intros D; apply (proj2 (never_recur _ Iy)), Inc, (proj2 (never_recur _ Ix)); intros i Hi; specialize (D i Hi).
      apply in_map_iff in D as (e & Se & He); apply filter_In in He as [_ He]; apply existsb_exists in He as (j & Hj & Ej).
      apply Z.eqb_eq in Ej; now subst.
  Qed.
  Hypothesis fields : differ_only_in [R2S_; Base_] s s'.
  Hypothesis no_operator : operator q = None.
  Hypothesis appends : r2s s = Append.
  Hypothesis is_news : r2s s' = Istream.
  (** "append and Istream, for rows that never recur." *)
  Theorem append_is_istream : evaluate answer s q all = evaluate answer s' q all.
  Proof.
    rewrite !evaluate_is, <- (outputs_change_no_report s s') by fewer fields.
    assert (E : lateness s' = lateness s /\ instant s' = instant s /\ closure s' = closure s /\ empty s' = empty s)
      by (clear - fields; equate fields; repeat split).
    destruct E as (E1 & E2 & E3 & E4).
    assert (Em : forall x, emit_as s' q all x = emit_as s q all x).
    { intros x; unfold emit_as, emitted_of; rewrite (same_arrivals s s') by (try (fewer fields); clear - fields; now equate fields).
      rewrite E1; unfold stamp, border; now rewrite E2, E3. }
    rewrite (map_ext _ _ Em); f_equal; rewrite E1; set (xs_ := elements_of q all (admitted (lateness s))) in *.
    assert (A : forall cs, answer_over answer s' q xs_ cs = over cs).
    { intros cs; symmetry; unfold over; fold xs_; clear - fields; clearbody xs_; equate fields; reflexivity. }
    assert (O : op s q = Append) by (unfold op; now rewrite no_operator).
    assert (O' : op s' q = Istream) by (unfold op; now rewrite no_operator).
    destruct states_of_reports as (sts & Hs & C & In_).
    rewrite one; cbn [map].
    assert (H0 : held (start, []) = []) by (unfold held, content; rewrite placed; cbn; destruct (current s p start); [|reflexivity]; change (win p) with w; now rewrite time).
    assert (B0 : over [[]] = []).
    { destruct (over [[]]) as [|r rs] eqn:Eo; [reflexivity|exfalso].
      assert (Hr : In r (over [[]])) by (rewrite Eo; now left).
      apply (proj2 (never_recur [] ltac:(easy))) in Hr; specialize (some_element r); destruct (derivation r) as [|i ?]; [congruence|].
      now specialize (Hr i (or_introl eq_refl)). }
    assert (G : forall rs sts x y any b la, map holding rs = map (fun x => [held x]) sts -> chain x sts -> later y x ->
      (forall z e, In z sts -> In e (snd z) -> In e es) ->
      (forall r, In r (over [held x]) -> In r (over [held y])) -> b = over [held y] ->
      outputs answer s q xs_ any la [held x] rs = outputs answer s' q xs_ b la [held x] rs).
    { clear Hs C In_ sts; induction rs as [|r rs IH]; intros [|z sts] x y any b la Hs C Ly Hz Inc Eb; try discriminate; [reflexivity|].
      injection Hs as Hr Hs; destruct C as [Lz C]; cbn [outputs]; cbv zeta; rewrite O, O', Hr; cbn [combine map fst snd].
      fold over; rewrite !A; cbn [relate].
      assert (Hzz : forall e, In e (snd z) -> In e es) by (intros e; apply Hz; now left).
      assert (N : NoDup (over [held z])) by (apply never_recur, held_in, Hzz).
      assert (Out : more (over [held z]) (over [still_there (held z) (held x)]) = more (over [held z]) b).
      { rewrite !more_filter by assumption; apply filter_ext_in; intros row Hrow; f_equal; subst b.
        apply eq_true_iff_eq; rewrite !is_row_of_iff; symmetry; now apply new_rows. }
      change (answer_over answer s q xs_) with over; rewrite Out, E4.
      set (out := more (over [held z]) b).
      assert (Next : forall any', outputs answer s q xs_ any' out [held z] rs = outputs answer s' q xs_ (rebase (base s') b (over [held z])) out [held z] rs).
      { intros any'; assert (Lyz : later y z) by now apply (later_trans y x).
        assert (K : rebase (base s') b (over [held z]) = over [held z] \/
                    rebase (base s') b (over [held z]) = b /\ forall r', In r' (over [held z]) -> In r' (over [held y])).
        { unfold rebase; fold out; destruct (base s'); [now left|]; destruct (is_empty out) eqn:Emp; [right; split; [reflexivity|]|now left].
          intros r' Hr'; rewrite <- Eb; apply is_row_of_iff; destruct (is_row_of b r') eqn:Ir; [reflexivity|exfalso].
          assert (Ho : In r' out) by (unfold out; rewrite more_filter by assumption; apply filter_In; split; [assumption|now rewrite Ir]).
          destruct out; [easy|discriminate]. }
        destruct K as [-> |[-> Inc']].
        - apply (IH sts z z); auto using later_refl; intros z' e Hz'; apply Hz; now right.
        - apply (IH sts z y); auto; intros z' e Hz'; apply Hz; now right. }
      rewrite (Next (rebase (base s) any (over [held z]))); reflexivity. }
    rewrite <- H0; apply (G _ sts (start, []) (start, [])); auto using later_refl.
    symmetry; rewrite H0; exact B0.
  Qed.
End Rows.

(** There are such rows: those of [objects], over a stream of one element. *)
Example rows_that_never_recur (s : Semantics) (q : Query) (w : Window) (xs : list Element) (e : Element) :
  windows q = [w] -> name w = 0 -> static q = [] -> collection s = AsBag -> consumption s = Unrestricted ->
  graph e = [(5, 1, 7)] -> 0 <= sys e ->
  let over c := answer_over objects s q xs [c] in
  let derivation r := if row_eq r [7] then [sys e] else [-1] in
  (forall r, derivation r <> []) /\
  forall c, (forall e', In e' c -> In e' [e]) -> NoDup (over c) /\ forall r, In r (over c) <-> incl (derivation r) (map sys c).
Proof.
  intros W Na St Co Cn Gr Sy over derivation.
  assert (O : forall c, (forall e', In e' c -> In e' [e]) -> over c = match c with [] => [] | _ => [[7]] end).
  { intros c H; unfold over, answer_over; rewrite Co, Cn; cbn [collect]; unfold dataset; rewrite W, St; cbn [List.app combine flat_map fst snd].
    rewrite app_nil_r, Na; induction c as [|x c IH]; [reflexivity|].
    assert (x = e) by (destruct (H x (or_introl eq_refl)) as [->|[]]; reflexivity); subst x.
    cbn [flat_map]; rewrite Gr; cbn [List.app map nodup]; destruct (in_dec quad_eq _ _) as [I|I].
    - rewrite IH by (intros; apply H; now right); destruct c; [easy|reflexivity].
    - destruct c as [|y c]; [reflexivity|exfalso; apply I].
      assert (y = e) by (destruct (H y (or_intror (or_introl eq_refl))) as [->|[]]; reflexivity); subst y.
      cbn [flat_map]; rewrite Gr; now left. }
  split; [intros r; unfold derivation; destruct (row_eq r [7]); discriminate|].
  intros c H; rewrite O by assumption; destruct c as [|x c].
  - split; [constructor|]; intros r; cbn; split; [easy|]; unfold derivation; intros I; destruct (row_eq r [7]).
    + now specialize (I _ (or_introl eq_refl)).
    + now specialize (I _ (or_introl eq_refl)).
  - assert (x = e) by (destruct (H x (or_introl eq_refl)) as [->|[]]; reflexivity); subst x.
    split; [repeat constructor; easy|]; intros r; unfold derivation; split.
    + intros [<-|[]]; replace (row_eq [7] [7]) with true by reflexivity; intros i [<-|[]]; now left.
    + destruct (row_eq r [7]) eqn:E; [intros _; apply row_eq_iff in E; subst; now left|].
      intros I; specialize (I (-1) (or_introl eq_refl)); apply in_map_iff in I as (y & Sy' & Hy).
      destruct (H y Hy) as [->|[]]; lia.
Qed.
