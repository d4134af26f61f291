(** "What no stream can tell apart" (docs/laws.md), of rows that never recur: reports under Istream without empty
    answers. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows R2S Alike Equivalences Choices Outputs OneWindow Single Ticks Changes Disjoint Rows.
Import ListNotations.
Open Scope Z_scope.

Lemma ascend_below_ b ts t : ascend b ts -> In t ts -> b <= t.
Proof. revert b; induction ts as [|u ts IH]; intros b; cbn; [easy|]; intros [A As] [->|H]; [assumption|specialize (IH _ As H); lia]. Qed.

Section News.
  Variables (s s1 : Semantics) (q : Query) (all : list Element) (w : Window) (o h : Z).
  Let p := place s q all w.
  Let start := s0_at s p o.
  Let es := arriving s q all.
  Let M := machine s p start.
  Let M1 := machine s1 p start.
  Hypothesis one : windows q = [w].
  Hypothesis time : kind w = Time.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis placed : origin p = Some o.
  Hypothesis sizes : 0 < size w /\ 0 < slide s w /\ 0 <= lag w.
  Hypothesis points : forall e, In e all -> until e = app e.
  Hypothesis the_horizon : horizon_of s (windows q) es = Some h.
  Hypothesis later_horizon : forall e, In e es -> app e < h.
  Variable answer : list Quad -> Bag.
  Let over c := answer_over answer s q (elements_of q all (admitted (lateness s))) [c].
  Variable derivation : Row -> list Z.
  Hypothesis some_element : forall r, derivation r <> [].
  Hypothesis never_recur : forall c, (forall e, In e c -> In e es) ->
    NoDup (over c) /\ forall r, In r (over c) <-> incl (derivation r) (map sys c).
  Hypothesis sys_names : forall a b, In a es -> In b es -> sys a = sys b -> a = b.
  (** Rows depend on the graph. *)
  Hypothesis rows_of_graphs : forall c c' r, (forall e, In e c -> In e es) -> (forall e, In e c' -> In e es) ->
    incl (flat_map graph c) (flat_map graph c') -> incl (flat_map graph c') (flat_map graph c) -> In r (over c) -> In r (over c').
  (** s1 has period 1, s has content change, non-empty, or both. *)
  Hypothesis fields : differ_only_in [Change_; NonEmpty_; Periodic_] s s1.
  Hypothesis no_close : window_close s = false /\ periodic s = None /\ missed s = All.
  Let held_ (x : State) := held s q all w x.
  Let right (x : State) := forall e, In e (snd x) -> In e es.
  Lemma rows_stay x y z r : later x y -> later y z -> right z ->
    In r (over (held_ x)) -> In r (over (held_ z)) -> In r (over (held_ y)).
  Proof.
    intros L1 L2 Rz Hx Hz.
    assert (Ry : right y) by (destruct L2 as [_ [t E]]; intros e He; apply Rz; rewrite E; apply in_app_iff; now left).
    assert (Rx : right x) by (destruct L1 as [_ [t E]]; intros e He; apply Ry; rewrite E; apply in_app_iff; now left).
    assert (I : forall u, right u -> forall e, In e (held_ u) -> In e es) by (intros u Ru; exact (held_in s q all w o time placed u Ru)).
    apply (proj2 (never_recur _ (I x Rx))) in Hx; apply (proj2 (never_recur _ (I z Rz))) in Hz; apply (proj2 (never_recur _ (I y Ry))).
    intros i Hi; specialize (Hx i Hi); specialize (Hz i Hi); apply in_map_iff in Hx as (e & Se & He); apply in_map_iff in Hz as (e' & Se' & He').
    assert (e = e') by (apply sys_names; [now apply (I x)|now apply (I z)|congruence]); subst e'.
    apply in_map_iff; exists e; split; [assumption|]; apply (left_for_good s q all w o time placed sizes points x y z e L1 L2 Ry He He').
  Qed.
  (** What Istream emits over contents, without empty answers, and its base then. *)
  Fixpoint news (base_ : Bag) (cs : list Content) : list Bag * Bag :=
    match cs with
    | [] => ([], base_)
    | c :: rest => let out := more (over c) base_ in
                   let (outs, b) := news (rebase (base s) base_ (over c)) rest in
                   (if is_empty out then outs else out :: outs, b)
    end.
  Lemma news_app b cs ds : news b (cs ++ ds) = (fst (news b cs) ++ fst (news (snd (news b cs)) ds), snd (news (snd (news b cs)) ds)).
  Proof.
    revert b; induction cs as [|c cs IH]; intros b; cbn [news List.app]; [cbn; now destruct (news b ds)|].
    rewrite IH; destruct (news _ cs) as [outs b']; cbn [fst snd]; match goal with |- context [is_empty ?X] => now destruct (is_empty X) end.
  Qed.
  (** A base that says of what comes the same as the last content does. *)
  Let good_base (b : Bag) (z : State) := exists y, later y z /\ b = over (held_ y) /\ incl (over (held_ z)) (over (held_ y)).
  Lemma out_of_a_good_base b z u : good_base b z -> later z u -> right u ->
    more (over (held_ u)) b = filter (fun r => negb (is_row_of (over (held_ z)) r)) (over (held_ u)).
  Proof.
    intros (y & Ly & -> & Inc) L R.
    rewrite more_filter by (apply never_recur; exact (held_in s q all w o time placed u R)).
    apply filter_ext_in; intros r Hr; f_equal; apply eq_true_iff_eq; rewrite !is_row_of_iff; split; [|apply Inc].
    intros Hy; now apply (rows_stay y z u).
  Qed.
  Lemma good_base_of_rebase b z u : good_base b z -> later z u -> right u -> good_base (rebase (base s) b (over (held_ u))) u.
  Proof.
    intros G L R; unfold rebase; destruct (base s); [exists u; split; [apply later_refl|split; [reflexivity|apply incl_refl]]|].
    match goal with |- context [is_empty ?X] => destruct (is_empty X) eqn:E end; [|exists u; split; [apply later_refl|split; [reflexivity|apply incl_refl]]].
    change (is_empty (more (over (held_ u)) b) = true) in E; rewrite (out_of_a_good_base b z u G L R) in E.
    destruct G as (y & Ly & -> & Inc); exists y; split; [now apply (later_trans y z)|split; [reflexivity|]].
    intros r Hr; apply Inc, is_row_of_iff; destruct (is_row_of (over (held_ z)) r) eqn:I; [reflexivity|exfalso].
    assert (X : In r (filter (fun r => negb (is_row_of (over (held_ z)) r)) (over (held_ u)))) by (apply filter_In; split; [assumption|now rewrite I]).
    destruct (filter _ (over (held_ u))); [easy|discriminate].
  Qed.
  Lemma good_base_if_silent b z u : good_base b z -> later z u -> incl (over (held_ u)) (over (held_ z)) -> good_base b u.
  Proof. intros (y & Ly & -> & Inc) L I; exists y; split; [now apply (later_trans y z)|split; [reflexivity|]]; intros r Hr; auto. Qed.
  (** What is not reported has no row that is new. *)
  Lemma not_reported t b ow la pr z v : right (t, b) -> start <= t -> later z (t, b) -> later v z -> la = held_ v -> pr = held_ z ->
    meets_all M ow t b (compares M la pr) = false -> incl (over (held_ (t, b))) (over (held_ z)).
  Proof.
    intros R St L Lv -> -> N r Hr; cbn in N; unfold timely, worthy in N.
    destruct no_close as (C & P & _); rewrite C, P, (time_has_scope s p o t time placed St) in N; cbn in N.
    change (content s p t b) with (held_ (t, b)) in N.
    assert (I : forall u, right u -> forall e, In e (held_ u) -> In e es) by (intros u Ru; exact (held_in s q all w o time placed u Ru)).
    assert (Rz : right z) by (destruct L as [_ [x E]]; intros e He; apply R; rewrite E; apply in_app_iff; now left).
    assert (Rv : right v) by (destruct Lv as [_ [x E]]; intros e He; apply Rz; rewrite E; apply in_app_iff; now left).
    destruct (held_ (t, b)) as [|e xs] eqn:H; [apply (proj2 (never_recur [] ltac:(easy))) in Hr; specialize (some_element r);
      destruct (derivation r) as [|i ?]; [congruence|]; now specialize (Hr i (or_introl eq_refl))|].
    rewrite <- H in *; rewrite orb_true_r, andb_true_r in N; apply orb_false_iff in N as [_ N].
    assert (V : exists v', later v' z /\ right v' /\ same_as s (held_ (t, b)) (held_ v')).
    { revert N; clear - Lv Rv Rz; destruct (baseline s); intros N; [exists v|exists z]; split; auto using later_refl. }
    destruct V as (v' & Lv' & Rv' & Sa); apply same_as_iff in Sa.
    assert (Hv : In r (over (held_ v'))).
    { revert Sa; destruct (change_scope s); intros Sa.
      - apply (proj2 (never_recur _ (I v' Rv'))); rewrite <- Sa; now apply (proj2 (never_recur _ (I (t, b) R))).
      - destruct Sa as [S1 S2]; apply (rows_of_graphs (held_ (t, b))); auto; [now apply (I (t, b))|now apply (I v')]. }
    now apply (rows_stay v' z (t, b)).
  Qed.
  Hypothesis M1_same : forall t b, holds M1 t b = holds M t b.
  Hypothesis M1_all : forall ow t b c, start <= t -> meets_all M1 ow t b c = true.
  Lemma looked_news b ow ts : forall la pr la1 pr1 bs bs1 z v b0 top,
    ascend b0 ts -> (forall t, In t ts -> start <= t <= top) ->
    fst z <= top -> (forall t, In t ts -> fst z <= t) -> (exists r, b = snd z ++ r) -> (forall e, In e b -> In e es) ->
    good_base bs z -> good_base bs1 z -> later v z -> la = held_ v -> pr = held_ z ->
    let rs := look M b ow ts la pr in let rs1 := look M1 b ow ts la1 pr1 in
    fst (news bs (map snd (fst rs))) = fst (news bs1 (map snd (fst rs1))) /\
    exists z' v', later z' (top, b) /\ good_base (snd (news bs (map snd (fst rs)))) z' /\ good_base (snd (news bs1 (map snd (fst rs1)))) z' /\
      later v' z' /\ fst (snd rs) = held_ v' /\ snd (snd rs) = held_ z'.
  Proof.
    assert (G : gap M = All) by apply no_close.
    assert (G1 : gap M1 = All) by (transitivity (missed s); [cbn; clear - fields; equate fields; reflexivity|apply no_close]).
    induction ts as [|t ts IH]; intros la pr la1 pr1 bs bs1 z v b0 top As Le Lt Lts Ez Rb Gb Gb1 Lv El Ep; cbv zeta; cbn [look].
    - cbn; split; [reflexivity|]; exists z, v; split; [split; [exact Lt|exact Ez]|]; auto 10.
    - destruct As as [A As]; destruct (Le t (or_introl eq_refl)) as [St Tt].
      rewrite G, G1, M1_all, M1_same by assumption; set (ok := meets_all M ow t b _).
      change (holds M t b) with (held_ (t, b)).
      assert (Lu : later z (t, b)) by (split; [cbn; apply Lts; now left|exact Ez]).
      assert (Ru : right (t, b)) by exact Rb.
      assert (Out : more (over (held_ (t, b))) bs = more (over (held_ (t, b))) bs1)
        by (rewrite (out_of_a_good_base bs z), (out_of_a_good_base bs1 z) by assumption; reflexivity).
      pose proof (good_base_of_rebase bs z (t, b) Gb Lu Ru) as B1; pose proof (good_base_of_rebase bs1 z (t, b) Gb1 Lu Ru) as B2.
      assert (N2 : forall t', In t' ts -> start <= t' <= top) by (intros; apply Le; now right).
      assert (N3 : forall t', In t' ts -> fst (t, b) <= t') by (intros t' Ht; cbn; pose proof (ascend_below_ _ _ _ As Ht); lia).
      assert (N4 : exists r, b = snd (t, b) ++ r) by (exists []; cbn; now rewrite app_nil_r).
      destruct ok eqn:Ok.
      + specialize (IH (held_ (t, b)) (held_ (t, b)) (held_ (t, b)) (held_ (t, b)) _ _ (t, b) (t, b) (t + 1) top
          As N2 Tt N3 N4 Rb B1 B2 (later_refl _) eq_refl eq_refl); cbv zeta in IH.
        destruct (look M b ow ts _ _) as [rs m], (look M1 b ow ts _ _) as [rs1 m1]; cbn [fst snd map news] in *.
        destruct IH as [E X]; rewrite Out.
        destruct (news _ (map snd rs)) as [outs bb], (news _ (map snd rs1)) as [outs1 bb1]; cbn [fst snd] in *; subst outs1.
        split; [match goal with |- context [is_empty ?X] => now destruct (is_empty X) end|exact X].
      + assert (Si : incl (over (held_ (t, b))) (over (held_ z))) by (apply (not_reported t b ow la pr z v); auto).
        pose proof (good_base_if_silent bs z (t, b) Gb Lu Si) as B1'.
        specialize (IH la (held_ (t, b)) (held_ (t, b)) (held_ (t, b)) _ _ (t, b) v (t + 1) top
          As N2 Tt N3 N4 Rb B1' B2 (later_trans _ _ _ Lv Lu) El eq_refl); cbv zeta in IH.
        assert (Em : is_empty (more (over (held_ (t, b))) bs1) = true).
        { rewrite (out_of_a_good_base bs1 z) by assumption; rewrite filter_none; [reflexivity|].
          intros r Hr; apply negb_false_iff, is_row_of_iff, Si, Hr. }
        destruct (look M b ow ts _ _) as [rs m], (look M1 b ow ts _ _) as [rs1 m1]; cbn [fst snd map news] in *.
        destruct IH as [E X]; rewrite Em.
        destruct (news _ (map snd rs1)) as [outs1 bb1]; cbn [fst snd] in *; split; [exact E|exact X].
  Qed.
  Hypothesis M1_owns : forall a, owns M1 a = owns M a.
  Hypothesis M1_instants : forall a b, instants M1 a b = instants M a b.
  Hypothesis M1_looks : forall l a, looks M1 l a = looks M l a.
  Lemma gone_news arrivals : forall b l la pr la1 pr1 bs bs1 z v k,
    arrive_in_order arrivals -> (forall e, In e (b ++ elements_in arrivals) -> In e es) ->
    (forall a, In a arrivals -> Z.max start (looked_own l) <= Z.max start (owns M a)) ->
    fst z <= Z.max start (looked_own l) -> (exists r, b = snd z ++ r) ->
    good_base bs z -> good_base bs1 z -> later v z -> la = held_ v -> pr = held_ z ->
    fst (news bs (map snd (go M b l la pr k arrivals))) = fst (news bs1 (map snd (go M1 b l la1 pr1 k arrivals))).
  Proof.
    assert (G : gap M = All) by apply no_close.
    assert (G1 : gap M1 = All) by (transitivity (missed s); [cbn; clear - fields; equate fields; reflexivity|apply no_close]).
    induction arrivals as [|a rest IH]; intros b l la pr la1 pr1 bs bs1 z v k O Hb Mo Lz Ez Gb Gb1 Lv El Ep; cbn [go]; [reflexivity|].
    destruct O as (Oa & _ & O); rewrite M1_looks, M1_owns, M1_instants.
    assert (Hb' : forall e, In e (with_element b a ++ elements_in rest) -> In e es) by (rewrite with_elements; exact Hb).
    assert (X : exists r, with_element b a = b ++ r) by (unfold with_element; destruct (element a) as [e|]; [now exists [e]|exists []; now rewrite app_nil_r]).
    assert (Ez' : exists r, with_element b a = snd z ++ r) by (destruct X as [r1 X], Ez as [r2 E2]; exists (r2 ++ r1); now rewrite X, E2, app_assoc).
    destruct (looks M l a); [|apply (IH _ _ _ _ _ _ _ _ z v); auto; intros; apply Mo; now right].
    pose proof (Mo a (or_introl eq_refl)) as Ma.
    set (ts := instants M (looked_own l) (owns M a)).
    assert (As : ascend (Z.max start (looked_own l)) ts) by apply interval_ascends.
    assert (Lt : forall t, In t ts -> start <= t <= Z.max start (owns M a)).
    { intros t Ht; apply interval_in in Ht; change (owns M a) with (own s [p] a) in *; lia. }
    assert (Lts : forall t, In t ts -> fst z <= t) by (intros t Ht; pose proof (ascend_below_ _ _ _ As Ht); lia).
    assert (Rb : forall e, In e b -> In e es) by (intros e He; apply Hb, in_app_iff; now left).
    pose proof (looked_news b (owns M a) ts la pr la1 pr1 bs bs1 z v _ (Z.max start (owns M a)) As Lt ltac:(lia) Lts Ez Rb Gb Gb1 Lv El Ep) as N.
    cbv zeta in N; unfold arrive; rewrite G, G1.
    destruct (look M b (owns M a) ts la pr) as [rs [l2 p2]], (look M1 b (owns M a) ts la1 pr1) as [rs1 [l3 p3]]; cbn [fst snd] in *.
    destruct N as (E & z' & v' & Lz' & B & B1 & Lv' & El' & Ep').
    rewrite !map_app, !map_map, !news_app; cbn [fst snd].
    change (fun x : Z * Content => snd x) with (@snd Z Content); rewrite E; f_equal.
    unfold next; rewrite M1_owns.
    destruct Lz' as [L1 [r1 E1]]; cbn [fst snd] in *.
    apply (IH _ _ _ _ _ _ _ _ z' v'); auto; cbn [looked_own].
    - intros c Hc; pose proof (own_grows s q all w o (or_introl time) a c (Oa c Hc)) as Gr; fold p start M in Gr; lia.
    - destruct X as [r2 X]; exists (r1 ++ r2); now rewrite X, E1, app_assoc.
  Qed.
End News.

(** "Under Istream with empty answers suppressed: content change, non-empty, both, and period 1, for rows that never
    recur."  s1 has period 1, s has one of the other conditions, or both. *)
Theorem istream_of_changes s s1 q all w o h answer derivation anchor :
  windows q = [w] -> kind w = Time -> (trigger s = Explicit -> triggers w = true) -> origin (place s q all w) = Some o ->
  0 < size w /\ 0 < slide s w /\ 0 <= lag w -> (forall e, In e all -> until e = app e) ->
  horizon_of s (windows q) (arriving s q all) = Some h -> (forall e, In e (arriving s q all) -> app e < h) ->
  let es := arriving s q all in
  let over c := answer_over answer s q (elements_of q all (admitted (lateness s))) [c] in
  (forall r : Row, derivation r <> [] :> list Z) ->
  (forall c, (forall e, In e c -> In e es) -> NoDup (over c) /\ forall r, In r (over c) <-> incl (derivation r) (map sys c)) ->
  (forall a b, In a es -> In b es -> sys a = sys b -> a = b) ->
  (forall c c' r, (forall e, In e c -> In e es) -> (forall e, In e c' -> In e es) ->
    incl (flat_map graph c) (flat_map graph c') -> incl (flat_map graph c') (flat_map graph c) -> In r (over c) -> In r (over c')) ->
  differ_only_in [Change_; NonEmpty_; Periodic_] s s1 -> op s q = Istream -> empty s = Suppress ->
  window_close s = false -> periodic s = None -> missed s = All ->
  content_change s = true \/ non_empty s = true ->
  content_change s1 = false -> non_empty s1 = false -> periodic s1 = Some (1, anchor) -> anchor <> AnchorFirst ->
  map rows (evaluate answer s q all) = map rows (evaluate answer s1 q all).
Proof.
  intros W K T O Sz Pt Ho Lh es over D N Sy Ro F Op Em C P G Co C1 N1 P1 A1.
  destruct (placed_machines s s1 q all w o ltac:(fewer F) W ltac:(congruence) T O) as (R & R1 & Ow & Iv & Lo & _ & _).
  set (start := s0_at s (place s q all w) o) in *.
  assert (E : lateness s1 = lateness s /\ base s1 = base s /\ empty s1 = empty s /\ op s1 q = op s q /\ window_close s1 = window_close s)
    by (clear - F; equate F; repeat split).
  destruct E as (E1 & E2 & E3 & E4 & E5).
  assert (Sh : forall t b, holds (machine s1 (place s q all w) start) t b = holds (machine s (place s q all w) start) t b)
    by (intros; cbn; apply (held_alike s s1 q all w o); [fewer F|exact O]).
  assert (Al : forall ow t b c, start <= t -> meets_all (machine s1 (place s q all w) start) ow t b c = true).
  { intros ow t b c L; cbn; unfold timely, worthy.
    rewrite <- (same_scope s s1 (place s q all w) (place s q all w) t (placed_itself s s1 ltac:(fewer F) _)).
    rewrite (time_has_scope s (place s q all w) o t K O L), E5, C, C1, N1, P1; cbn; rewrite !andb_true_r.
    unfold is_periodic; rewrite P1; destruct anchor; [now rewrite Z.mod_1_r|rewrite O; now rewrite Z.mod_1_r|congruence]. }
  assert (Out : forall s2 reps cs b la k, base s2 = base s -> empty s2 = Suppress -> op s2 q = Istream ->
    (forall c, answer_over answer s2 q (elements_of q all (admitted (lateness s))) [c] = over c) ->
    map holding reps = map (fun c : Content => [c]) cs ->
    map snd (outputs answer s2 q (elements_of q all (admitted (lateness s))) b la [k] reps) = fst (news s q all answer b cs)).
  { intros s2 reps; induction reps as [|r reps IH]; intros [|c cs] b la k B2 Em2 O2 Ov Hs; try discriminate; [reflexivity|].
    injection Hs as Hr Hs; cbn [outputs news]; cbv zeta; rewrite O2, Em2, Hr, Ov, B2; cbn [relate emits].
    fold (over c); set (out := more (over c) b).
    specialize (IH cs (rebase (base s) b (over c)) out c B2 Em2 O2 Ov Hs).
    change (answer_over answer s q (elements_of q all (admitted (lateness s))) [c]) with (over c).
    destruct (news s q all answer (rebase (base s) b (over c)) cs) as [outs bb]; cbn [fst] in *.
    fold out; destruct (is_empty out); cbn [negb map snd]; [exact IH|f_equal; exact IH]. }
  assert (Hd : forall s2 g, map seen (reports s2 q all) = map seen_of g -> map holding (reports s2 q all) = map (fun c : Content => [c]) (map snd g)).
  { intros s2 g H; transitivity (map (fun x : Z * Z * list Content => snd x) (map seen (reports s2 q all))); [rewrite map_map; reflexivity|].
    rewrite H, !map_map; reflexivity. }
  assert (Rw : forall s2, map rows (evaluate answer s2 q all) = map snd (outputs answer s2 q
    (elements_of q all (admitted (lateness s2))) [] [] (map (fun _ => []) (windows q)) (reports s2 q all)))
    by (intros; rewrite evaluate_is, map_map; reflexivity).
  rewrite !Rw, E1, W; cbn [map].
  set (g := go (machine s (place s q all w) start) [] (none_looked start) [] [] 0 (arrivals_of s q all)) in *.
  set (g1 := go (machine s1 (place s q all w) start) [] (none_looked start) [] [] 0 (arrivals_of s q all)) in *.
  etransitivity; [apply (Out s (reports s q all) (map snd g) [] [] []); [reflexivity|exact Em|exact Op|reflexivity|exact (Hd s _ R)]|].
  symmetry; etransitivity; [apply (Out s1 (reports s1 q all) (map snd g1) [] [] []); [exact E2|congruence|congruence| |exact (Hd s1 _ R1)]|].
  { intros c; symmetry; unfold over; generalize (elements_of q all (admitted (lateness s))); intros xs; clear - F; equate F; reflexivity. }
  symmetry.
  assert (H0 : held s q all w (start, []) = []).
  { unfold held, content; rewrite O; cbn; destruct (current s (place s q all w) start); [|reflexivity]; now rewrite K. }
  assert (B0 : over [] = []).
  { destruct (over []) as [|r rs] eqn:Eo; [reflexivity|exfalso].
    assert (Hr : In r (over [])) by (rewrite Eo; now left).
    apply (proj2 (N [] ltac:(easy))) in Hr; specialize (D r); destruct (derivation r) as [|i ?]; [congruence|].
    now specialize (Hr i (or_introl eq_refl)). }
  assert (Gb : exists y, later y (start, []) /\ [] = over (held s q all w y) /\ incl (over (held s q all w (start, []))) (over (held s q all w y))).
  { exists (start, []); split; [apply later_refl|split; [rewrite H0; now symmetry|apply incl_refl]]. }
  unfold g, g1; refine (gone_news s s1 q all w o K O Sz Pt answer derivation D N Sy Ro F (conj C (conj P G)) Sh Al Ow Iv Lo
    (arrivals_of s q all) [] (none_looked start) [] [] [] [] [] [] (start, []) (start, []) 0 _ _ _ _ _ Gb Gb (later_refl _) (eq_sym H0) (eq_sym H0)).
  - rewrite (arrivals_and_sentinel s q all h Ho); exact (they_arrive_in_order s q all w o h Lh).
  - intros e; cbn [List.app]; rewrite (arrivals_and_sentinel s q all h Ho), elements_of_arrivals; trivial.
  - cbn; intros; fold start; lia.
  - cbn; fold start; lia.
  - exists []; reflexivity.
Qed.
