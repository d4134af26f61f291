(** "What no stream can tell apart" (docs/laws.md): ticks by batch, a period of 1, expiry, partial windows, order.
    Each theorem has the sentence of its entry.  Many hold of more than the sentence presumes. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Alike Equivalences.
Import ListNotations.
Open Scope Z_scope.

(** The elements in the order in which they arrive (ENG-5). *)
Definition arriving (s : Semantics) (q : Query) (all : list Element) : list Element :=
  sort (comes_after (map on (windows q))) (elements_of q all (admitted (lateness s))).
Definition arrival_of (e : Element) : Arrival :=
  {| at_ := app e; a_sys := sys e; a_batch := batch e; element := Some e |}.
Lemma arrivals_are s q all : arrivals_of s q all = map arrival_of (arriving s q all) ++
  match horizon_of s (windows q) (arriving s q all) with
  | None => []
  | Some h => [{| at_ := h; a_sys := maximum (map sys all) 0 + 1;
                  a_batch := maximum (map batch (arriving s q all)) 0 + 1; element := None |}]
  end.
Proof. reflexivity. Qed.
Lemma maximum_ge xs x y : y = x \/ In y xs -> y <= maximum xs x.
Proof.
  revert x y; induction xs as [|z xs IH]; intros x y; cbn; [intros [->|[]]; lia|].
  pose proof (IH (Z.max x z) (Z.max x z) (or_introl eq_refl)) as M; unfold maximum in *; cbn.
  intros [->|[->|H]]; [lia|lia|]; apply IH; now right.
Qed.

Lemma same_interval_of s s' ps start a b :
  differ_only_in [Missed_; Baseline_; Tick_; Trigger_; Collection_; Consumption_; R2S_; Base_; Empty_; Horizon_;
                  Instant_] s s' ->
  interval s ps start a b = interval s' ps start a b.
Proof.
  intros D; unfold interval.
  rewrite (same_moves s s' ps ps)
    by (apply windows_are_themselves; fewer D).
  replace (expiry_seen s') with (expiry_seen s) by (clear - D; now equate D); reflexivity.
Qed.

(** * Ticks by batch *)

(** From a least number on each number is greater than the one before. *)
Fixpoint rises (least : Z) (xs : list Z) : Prop :=
  match xs with [] => True | x :: rest => least < x /\ rises x rest end.
Lemma rises_snoc xs : rises 0 xs -> rises 0 (xs ++ [maximum xs 0 + 1]).
Proof.
  enough (G : forall least y, rises least xs -> maximum xs least <= y -> rises least (xs ++ [y + 1]))
    by (intros R; apply G; [assumption|lia]).
  induction xs as [|x xs IH]; intros least y R M; cbn in *; [lia|].
  destruct R as [Lt R]; split; [assumption|]; apply IH; [assumption|].
  unfold maximum in *; cbn in M; now rewrite Z.max_r in M by lia.
Qed.
Lemma rising_arrivals s q all :
  rises 0 (map batch (arriving s q all)) -> rises 0 (map a_batch (arrivals_of s q all)).
Proof.
  intros R; rewrite arrivals_are, map_app, map_map; cbn.
  destruct (horizon_of _ _ _); cbn; [|now rewrite app_nil_r]; now apply rises_snoc.
Qed.

(** "A batch for each element, and the tuple tick." *)
Theorem a_batch_for_each_element s s' q all :
  differ_only_in [Tick_] s s' -> tick s = TupleTick -> tick s' = BatchTick ->
  rises 0 (map batch (arriving s q all)) ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros D T T' R; apply rising_arrivals in R.
  apply same_instants_same_reports; try (clear - D; now equate D).
  - apply Forall_forall; intros a _ start since.
    rewrite (same_owns s s') by fewer D; apply same_interval_of; fewer D.
  - generalize (arrivals_of s q all), R; clear R; intros arrivals R l L; rewrite <- L in R; clear L; revert l R.
    induction arrivals as [|a rest IH]; intros l R; cbn; [trivial|]; cbn in R; destruct R as [Lt R].
    unfold is_due at 1 2 3; rewrite T, T'; split; [symmetry; now apply Z.ltb_lt|].
    apply IH; exact R.
Qed.

(** Batches that change where instants do, from arrival to arrival. *)
Fixpoint batches_are_instants (app_before batch_before : Z) (arrivals : list Arrival) : Prop :=
  match arrivals with
  | [] => True
  | a :: rest => app_before <= at_ a /\ batch_before <= a_batch a /\ (app_before < at_ a <-> batch_before < a_batch a) /\
                 batches_are_instants (at_ a) (a_batch a) rest
  end.
Lemma upto_nil a b : b <= a -> upto a b = [].
Proof. intros; unfold upto; now replace (Z.to_nat (b - a)) with 0%nat by lia. Qed.
Lemma map_seq (f g : nat -> Z) i j n :
  (forall k, f (i + k)%nat = g (j + k)%nat) -> map f (seq i n) = map g (seq j n).
Proof.
  revert i j; induction n as [|n IH]; intros i j E; cbn; [reflexivity|f_equal].
  - specialize (E 0%nat); now rewrite !Nat.add_0_r in E.
  - apply IH; intros k; specialize (E (S k)); now rewrite !Nat.add_succ_r in E.
Qed.
Lemma upto_app a b c : a <= b <= c -> upto a b ++ upto b c = upto a c.
Proof.
  intros [H H']; unfold upto.
  replace (Z.to_nat (c - a)) with (Z.to_nat (b - a) + Z.to_nat (c - b))%nat by lia.
  rewrite seq_app, map_app; f_equal.
  apply map_seq; intros i; lia.
Qed.
Lemma in_upto a b t : In t (upto a b) <-> a <= t < b.
Proof.
  unfold upto; rewrite in_map_iff; split.
  - intros (i & <- & H); apply in_seq in H; lia.
  - intros H; exists (Z.to_nat (t - a)); rewrite in_seq; lia.
Qed.
Lemma filter_all {A} (f : A -> bool) xs : (forall x, In x xs -> f x = true) -> filter f xs = xs.
Proof.
  induction xs as [|x xs IH]; cbn; intros H; [reflexivity|].
  rewrite H by auto; f_equal; auto.
Qed.
Lemma filter_none {A} (f : A -> bool) xs : (forall x, In x xs -> f x = false) -> filter f xs = [].
Proof. induction xs as [|x xs IH]; cbn; intros H; [reflexivity|]. rewrite H by auto; auto. Qed.
Lemma filter_from a b c : filter (fun t => a <=? t) (upto b c) = upto (Z.max a b) c.
Proof.
  set (d := Z.max b (Z.min a c)).
  destruct (Z_le_gt_dec b c) as [H|H]; [|rewrite !upto_nil by lia; reflexivity].
  rewrite <- (upto_app b d c), filter_app, filter_none, filter_all by
    (try (intros t T; apply in_upto in T); lia).
  destruct (Z_le_gt_dec c a); [rewrite !upto_nil by lia; reflexivity|].
  cbn; f_equal; lia.
Qed.
Lemma own_le_at s ps a : first_is_tuple ps = false -> at_ a - 1 <= own s ps a <= at_ a.
Proof.
  unfold own, first_is_tuple; destruct ps as [|p ps]; [lia|]; intros T.
  destruct (kind (win p)); try discriminate; destruct (element a), (close_rule s), (closure s); lia.
Qed.
(** An own instant before s0: nothing is evaluated. *)
Lemma interval_before_start s ps start since now : now < start -> interval s ps start since now = [].
Proof.
  intros H; unfold interval; apply filter_none; intros t T.
  apply in_app_iff in T as [T|T]; [apply in_upto in T; lia|].
  destruct (_ || _); [destruct T as [<-|[]]; lia|easy].
Qed.
(** Whatever was looked at before s0, the next interval begins at s0. *)
Lemma interval_from_start s ps start since now : since <= start < now ->
  interval s ps start since now = interval s ps start start now.
Proof.
  intros H; unfold interval; rewrite !filter_app, !filter_from; f_equal; [f_equal; lia|].
  replace (since =? now) with false by lia; replace (start =? now) with false by lia.
  replace (since <? now) with true by lia; replace (start <? now) with true by lia; reflexivity.
Qed.

(** "A batch for each instant, and the time tick, where no arrival's own instant is s0." *)
Theorem a_batch_for_each_instant s s' q all :
  let ps := map (place s q all) (windows q) in
  differ_only_in [Tick_] s s' -> tick s = TimeTick -> tick s' = BatchTick -> first_is_tuple ps = false ->
  (forall a, In a (arrivals_of s q all) -> 0 < a_batch a) ->
  match arrivals_of s q all with
  | [] => True | a :: rest => batches_are_instants (at_ a) (a_batch a) rest end ->
  (forall a x, In a (arrivals_of s q all) -> In x (starts s ps) -> own s ps a <> fold_left Z.min (starts s ps) x) ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros ps D T T' Tu B I N.
  assert (PS : map (place s' q all) (windows q) = ps) by (apply same_places; fewer D).
  assert (Ar : arrivals_of s' q all = arrivals_of s q all)
    by (apply same_arrivals; [fewer D|clear - D; now equate D]).
  assert (Ow : forall a, own s' ps a = own s ps a) by (intros; symmetry; apply same_owns; fewer D).
  assert (By : forall before o k ts m,
    map seen (fst (by_instant s' ps before o k ts m)) = map seen (fst (by_instant s ps before o k ts m)) /\
    snd (by_instant s' ps before o k ts m) = snd (by_instant s ps before o k ts m)).
  { intros; apply same_by_instant with (P := fun _ => True) (tuples := false).
    - clear - D; clearbody ps; induction ps; constructor; auto; apply alike_itself; fewer D.
    - intros; apply fires_of_same_trigger; [clear - D; now equate D|assumption].
    - clear - D; now equate D.
    - clear - D; now equate D.
    - now split.
    - now apply Forall_forall. }
  assert (In' : forall start a b, interval s' ps start a b = interval s ps start a b)
    by (intros; symmetry; apply same_interval_of; fewer D).
  assert (St : starts s' ps = starts s ps)
    by (symmetry; apply (same_starts s s' ps ps), windows_are_themselves; fewer D).
  unfold reports; fold ps; rewrite PS, St, Ar; destruct (starts s ps) as [|x xs]; [reflexivity|].
  set (start := fold_left Z.min xs x).
  assert (N' : forall a, In a (arrivals_of s q all) -> own s ps a <> start).
  { intros a Ha; specialize (N a x Ha (or_introl eq_refl)); cbn in N; now rewrite Z.min_id in N. }
  set (m := {| reported := _ |}); clearbody m.
  (* both have looked at what is after s0, or at nothing that matters *)
  assert (Same : forall arrivals before k m l l' app_before batch_before,
    batches_are_instants app_before batch_before arrivals ->
    looked_app l = app_before -> looked_batch l' = batch_before -> looked_own l = looked_own l' ->
    map seen (run s ps start before l m k arrivals) = map seen (run s' ps start before l' m k arrivals)).
  { clear - T T' Tu Ow By In'; induction arrivals as [|a rest IH]; intros before k m l l' v y I A B O; [reflexivity|].
    destruct I as (Le & Leb & Iff & I); cbn [run]; unfold is_due; rewrite T, T', A, B, Tu, Ow, O, In'.
    set (bf := match element a with Some _ => _ | None => _ end).
    destruct (v <? at_ a) eqn:X.
    - replace (y <? a_batch a) with true by lia.
      match goal with |- context [by_instant s' ps ?b ?o ?n ?ts ?z] => destruct (By b o n ts z) as [E M] end.
      destruct (by_instant s' _ _ _ _ _ _) as [rs' m'], (by_instant s _ _ _ _ _ _) as [rs m1]; cbn in E, M; subst m'.
      rewrite !map_app, E; f_equal; apply (IH _ _ _ _ _ (at_ a) (a_batch a)); auto.
    - replace (y <? a_batch a) with false by lia; apply (IH _ _ _ _ _ (at_ a) (a_batch a)); auto; lia. }
  enough (Early : forall arrivals before k l' app_before batch_before,
    batches_are_instants app_before batch_before arrivals -> (forall a, In a arrivals -> own s ps a <> start) ->
    looked_batch l' = batch_before -> app_before <= start -> looked_own l' <= start ->
    map seen (run s ps start before {| looked_app := start; looked_batch := 0; looked_own := start |} m k arrivals) =
    map seen (run s' ps start before l' m k arrivals)).
  { destruct (arrivals_of s q all) as [|a rest]; [reflexivity|].
    apply (Early _ _ _ _ (Z.min start (at_ a - 1)) 0); cbn; try lia; [|apply N'].
    specialize (B a (or_introl eq_refl)); repeat split; try lia; assumption. }
  clear N N' B I; induction arrivals as [|a rest IH]; intros bf n l' z y I N B A O; [reflexivity|].
  destruct I as (Le & Leb & Iff & I); pose proof (own_le_at s ps a Tu) as Own; pose proof (N a (or_introl eq_refl)) as Na.
  cbn [run]; unfold is_due; rewrite T, T', B, Tu, Ow, In'; cbn [looked_app looked_own].
  set (bf' := match element a with Some _ => _ | None => _ end).
  destruct (start <? at_ a) eqn:X.
  - replace (y <? a_batch a) with true by lia.
    rewrite (interval_from_start s ps start (looked_own l')) by lia.
    match goal with |- context [by_instant s' ps ?b ?o ?n ?ts ?z] => destruct (By b o n ts z) as [E M] end.
    destruct (by_instant s' _ _ _ _ _ _) as [rs' m'], (by_instant s _ _ _ _ _ _) as [rs m1]; cbn in E, M; subst m'.
    rewrite !map_app, E; f_equal; apply (Same _ _ _ _ _ _ (at_ a) (a_batch a)); auto.
  - assert (R : forall l1, looked_batch l1 = a_batch a -> looked_own l1 <= start ->
      map seen (run s ps start bf' {| looked_app := start; looked_batch := 0; looked_own := start |} m (n + 1) rest) =
      map seen (run s' ps start bf' l1 m (n + 1) rest)).
    { intros l1 B1 O1; apply (IH _ _ _ (at_ a) (a_batch a)); auto; [|lia]; intros b Hb; apply N; now right. }
    destruct (y <? a_batch a) eqn:Y; [|apply R; lia].
    rewrite interval_before_start by lia; unfold by_instant; cbn [visit rev].
    destruct (missed s'); cbn [List.app]; apply R; cbn; lia.
Qed.

(** * Periods, expiry, partial windows *)

(** "`periodic` with period 1 beside other conditions, and those conditions alone (for a stream with elements,
    if the anchor is the first)." *)
Theorem a_period_of_one s s' q all x :
  differ_only_in [Periodic_] s s' -> periodic s = Some (1, x) -> periodic s' = None ->
  (forall w, In w (windows q) -> kind w <> Tuple) ->
  (x = AnchorFirst -> forall w, In w (windows q) -> t1 (place s q all w) <> None) ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros D P P' K F.
  set (ps := map (place s q all) (windows q)).
  assert (E : t0 s' = t0 s /\ closure s' = closure s /\ slide_choice s' = slide_choice s /\ lateness s' = lateness s /\
              partial s' = partial s /\ close_rule s' = close_rule s /\ expiry_seen s' = expiry_seen s)
    by (clear - D; equate D; repeat split).
  destruct E as (E & E1 & E2 & E3 & E4 & E5 & E6).
  assert (PS : map (place s' q all) (windows q) = ps).
  { apply map_ext; intros w; unfold place, origin_of, not_earlier, slide, low, high; now rewrite ?(ltac:(clear - D; now equate D) : not_before s' = not_before s), E, E1, E2, E3. }
  assert (W : forall p, same_window s s' p p).
  { intros p; constructor; try reflexivity.
    - unfold slide; now rewrite E2.
    - now left.
    - unfold least, cut, slide; now rewrite E1, E2, E4.
    - destruct (origin p); [|exact I]; unfold first_instant, last_instant, slide, low, high; now rewrite E1, E2. }
  assert (Ws : Forall2 (same_window s s') ps ps) by (clear - W; induction ps; constructor; auto).
  assert (Beat : forall p t, In p ps -> has_scope s p t = true -> is_periodic s p t = true).
  { intros p t Hp S; apply in_map_iff in Hp as (w & <- & Hw); unfold is_periodic; rewrite P.
    unfold has_scope, current in S; specialize (F); destruct x; [now rewrite Z.mod_1_r| |].
    - destruct (origin (place s q all w)); [now rewrite Z.mod_1_r|discriminate].
    - specialize (F eq_refl w Hw); destruct (t1 (place s q all w)); [now rewrite Z.mod_1_r|congruence]. }
  apply alike_reports with (P := fun _ => True) (tuples := false); rewrite ?PS; fold ps.
  - assert (A : forall p, In p ps -> alike s s' (fun _ => True) false p p).
    { intros p Hp; split; [reflexivity|split; [|split; [|discriminate]]].
      - intros; apply same_content; [fewer D|apply W].
      - intros o t before c _; rewrite <- (same_worthy s s' ltac:(fewer D) p p t before c (W p)).
        unfold worthy, timely; rewrite P, P', <- (same_scope s s' p p t (W p)).
        destruct (has_scope s p t) eqn:S; [|now rewrite !andb_false_l, !andb_false_r].
        rewrite (Beat p t Hp S), !andb_true_r; f_equal.
        unfold closes_at, last_instant, least, cut, slide, high; rewrite E1, E2, E4.
        replace (window_close s') with (window_close s) by (clear - D; now equate D); reflexivity. }
    clear - A; clearbody ps; induction ps as [|p ps IH]; constructor; [apply A; now left|].
    apply IH; intros; apply A; now right.
  - intros; apply fires_of_same_trigger; [clear - D; now equate D|assumption].
  - clear - D; now equate D.
  - clear - D; now equate D.
  - assert (T : first_is_tuple ps = false); [|now split].
    unfold ps; destruct (windows q) as [|w ws]; [reflexivity|]; cbn; specialize (K w (or_introl eq_refl)).
    now destruct (kind w).
  - intros a; unfold own; now rewrite E1, E5.
  - now apply same_starts.
  - unfold arrivals_of, horizon_of, reach, slide; rewrite E2, E3.
    replace (horizon s') with (horizon s) by (clear - D; now equate D); reflexivity.
  - apply all_elements; auto.
  - apply Forall_forall; intros a _ start since; unfold own; rewrite E1, E5; unfold interval.
    now rewrite E6, (same_moves s s' ps ps Ws).
  - apply same_tick_same_dues; clear - D; now equate D.
Qed.

(** "Expiry replayed and eager, where no window takes another's place at an arrival's own instant, ..." *)
Theorem expiry_where_no_window_moves s s' q all :
  differ_only_in [ExpirySeen_] s s' ->
  (forall a, In a (arrivals_of s q all) ->
    moves s (map (place s q all) (windows q)) (own s (map (place s q all) (windows q)) a) = false) ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros D M; apply same_instants_same_reports; try (clear - D; now equate D).
  - apply Forall_forall; intros a Ha start since; rewrite <- (same_owns s s') by fewer D.
    specialize (M a Ha); unfold interval.
    rewrite <- (same_moves s s' _ _ (windows_are_themselves s s' ltac:(fewer D) _)), M, !andb_false_r.
    now destruct (expiry_seen s), (expiry_seen s').
  - intros; apply same_tick_same_dues; clear - D; now equate D.
Qed.

(** "Partial windows reported and clipped, where no element precedes window 0's first instant (moved back by
    a lag)." *)
Theorem reported_is_clipped s s' q all :
  differ_only_in [Partial_] s s' -> partial s = Reported -> partial s' = Clipped ->
  (forall e, In e all -> app e <= until e) ->
  (forall w e o, let p := place s q all w in In w (windows q) -> In e all -> stream e = on w -> origin p = Some o ->
     first_instant s p o 0 - lag w <= begins p e) ->
  map seen (reports s q all) = map seen (reports s' q all).
Proof.
  intros D P P' V F; set (ps := map (place s q all) (windows q)).
  assert (E : t0 s' = t0 s /\ closure s' = closure s /\ slide_choice s' = slide_choice s /\ lateness s' = lateness s /\
              periodic s' = periodic s /\ close_rule s' = close_rule s /\ expiry_seen s' = expiry_seen s)
    by (clear - D; equate D; repeat split).
  destruct E as (E & E1 & E2 & E3 & E4 & E5 & E6).
  assert (PS : map (place s' q all) (windows q) = ps).
  { apply map_ext; intros w; unfold place, origin_of, not_earlier, slide, low, high; now rewrite ?(ltac:(clear - D; now equate D) : not_before s' = not_before s), E, E1, E2, E3. }
  assert (W : forall p, same_window s s' p p).
  { intros p; constructor; try reflexivity.
    - unfold slide; now rewrite E2.
    - now left.
    - unfold least, cut, slide; now rewrite E1, E2, P, P'.
    - destruct (origin p); [|exact I]; unfold first_instant, last_instant, slide, low, high; now rewrite E1, E2. }
  assert (Ws : Forall2 (same_window s s') ps ps) by (clear - W; induction ps; constructor; auto).
  assert (Co : forall p t before, In p ps -> Forall (fun e => In e all) before ->
    content s p t before = content s' p t before).
  { intros p t before Hp B; pose proof (W p) as Wp; apply in_map_iff in Hp as (w & <- & Hw).
    unfold content; rewrite <- (same_current s s' _ _ t Wp); cbn [win place].
    destruct (origin (place s q all w)) as [o|] eqn:O; [|reflexivity].
    destruct (current s (place s q all w) t) as [n|]; [|reflexivity].
    assert (M : forall e, In e (filter (fun e => stream e =? on w) before) ->
                meets s (place s q all w) o n t e = meets s' (place s q all w) o n t e).
    { intros e He; apply filter_In in He as [He St]; rewrite Forall_forall in B; specialize (B e He).
      apply Z.eqb_eq in St; specialize (F w e o Hw B St O); specialize (V e B); cbv zeta in F.
      assert (Fi : forall m, first_instant s' (place s q all w) o m = first_instant s (place s q all w) o m)
        by (intros; unfold first_instant, slide, low; now rewrite E1, E2).
      assert (La : last_instant s' (place s q all w) o n = last_instant s (place s q all w) o n)
        by (unfold last_instant, slide, high; now rewrite E1, E2).
      assert (Be : begins (place s q all w) e <= ends (place s q all w) e)
        by (unfold begins, ends; cbn; destruct (kind w); lia).
      unfold meets, clipped_first; rewrite P, P', La, !Fi; cbn [win place].
      destruct (kind w); try reflexivity; apply eq_true_iff_eq; rewrite !andb_true_iff, !Z.leb_le; lia. }
    destruct (kind w); try (apply filter_ext_in; exact M); [|reflexivity].
    unfold latest_rows, slide; now rewrite E2. }
  apply alike_reports with (P := fun e => In e all) (tuples := first_is_tuple ps); rewrite ?PS; fold ps.
  - assert (Ti : forall p o t, In p ps -> timely s o t p = timely s' o t p).
    { intros p o t Hp; unfold timely; rewrite <- (same_scope s s' p p t (W p)).
      unfold is_periodic, border, closes_at, last_instant, least, cut, slide, high; rewrite E1, E2, E4, P, P'.
      replace (window_close s') with (window_close s) by (clear - D; now equate D); reflexivity. }
    assert (Wo : forall p t before c, In p ps -> Forall (fun e => In e all) before ->
                 worthy s t before p c = worthy s' t before p c).
    { intros p t before c Hp B; unfold worthy, differs; rewrite <- (same_scope s s' p p t (W p)), <- (Co p t before Hp B).
      replace (content_change s') with (content_change s) by (clear - D; now equate D).
      replace (non_empty s') with (non_empty s) by (clear - D; now equate D).
      replace (change_scope s') with (change_scope s) by (clear - D; now equate D); reflexivity. }
    assert (A : forall p b, In p ps -> alike s s' (fun e => In e all) b p p).
    { intros p b Hp; split; [reflexivity|split; [|split; [|split]]]; intros; auto.
      now rewrite <- (Ti p), <- (Wo p). }
    generalize (first_is_tuple ps); intros b; clear - A; clearbody ps; induction ps as [|p ps IH]; constructor;
      [apply A; now left|]; apply IH; intros; apply A; now right.
  - intros; apply fires_of_same_trigger; [clear - D; now equate D|assumption].
  - clear - D; now equate D.
  - clear - D; now equate D.
  - now split.
  - intros a; unfold own; now rewrite E1, E5.
  - now apply same_starts.
  - unfold arrivals_of, horizon_of, reach, slide; rewrite E2, E3.
    replace (horizon s') with (horizon s) by (clear - D; now equate D); reflexivity.
  - apply Forall_forall; intros a Ha; rewrite arrivals_are in Ha; apply in_app_iff in Ha as [Ha|Ha].
    + apply in_map_iff in Ha as (e & <- & He); cbn; unfold arriving in He; rewrite in_sort in He.
      unfold elements_of in He; apply in_flat_map in He as (n & _ & He); apply in_admitted, filter_In in He; easy.
    + destruct (horizon_of _ _ _); [destruct Ha as [<-|[]]; exact I|easy].
  - apply Forall_forall; intros a _ start since; unfold own; rewrite E1, E5; unfold interval.
    now rewrite E6, (same_moves s s' ps ps Ws).
  - apply same_tick_same_dues; clear - D; now equate D.
Qed.

(** * Order *)

Fixpoint in_order (es : list Element) : Prop :=
  match es with
  | [] => True
  | e :: rest => (forall e', In e' rest -> app e <= app e') /\ in_order rest
  end.
Lemma none_is_late d earlier es :
  match d with Some n => 0 <= n | None => True end -> in_order es ->
  (forall x e, In x earlier -> In e es -> app x <= app e) -> split_late d earlier es = (es, []).
Proof.
  intros N; revert earlier; induction es as [|e es IH]; intros earlier O L; cbn; [reflexivity|]; destruct O as [Oe O].
  assert (La : is_late d e earlier = false).
  { unfold is_late; destruct d as [n|]; [|reflexivity]; apply not_true_is_false; intros X.
    apply existsb_exists in X as (x & Hx & Lt); specialize (L x e Hx (or_introl eq_refl)); lia. }
  rewrite IH, La; [reflexivity|assumption|].
  intros x y Hx Hy; apply in_app_iff in Hx as [Hx|[<-|[]]]; [apply L; [assumption|now right]|now apply Oe].
Qed.
(** "Disorder refused, and reordered within any bound, for streams in order." *)
Theorem refused_is_reordered s s' q all d :
  differ_only_in [Lateness_] s s' -> lateness s = None -> lateness s' = Some d -> 0 <= d ->
  (forall n, in_order (filter (fun e => stream e =? n) all)) ->
  map seen (reports s q all) = map seen (reports s' q all) /\
  elements_of q all (dropped (lateness s')) = [].
Proof.
  intros D L L' N O; set (ps := map (place s q all) (windows q)).
  assert (E : t0 s' = t0 s /\ closure s' = closure s /\ slide_choice s' = slide_choice s /\ horizon s' = horizon s /\
              periodic s' = periodic s /\ close_rule s' = close_rule s /\ expiry_seen s' = expiry_seen s /\
              partial s' = partial s)
    by (clear - D; equate D; repeat split).
  destruct E as (E & E1 & E2 & E3 & E4 & E5 & E6 & E7).
  assert (Ad : forall n, admitted (lateness s') (filter (fun e => stream e =? n) all) =
                         admitted (lateness s) (filter (fun e => stream e =? n) all)).
  { intros n; unfold admitted; rewrite !none_is_late; rewrite ?L, ?L'; trivial; easy. }
  assert (PS : map (place s' q all) (windows q) = ps).
  { apply map_ext; intros w; unfold place, origin_of, not_earlier, slide, low, high; now rewrite ?(ltac:(clear - D; now equate D) : not_before s' = not_before s), Ad, E, E1, E2. }
  assert (W : forall p, same_window s s' p p).
  { intros p; constructor; try reflexivity.
    - unfold slide; now rewrite E2.
    - now left.
    - unfold least, cut, slide; now rewrite E1, E2, E7.
    - destruct (origin p); [|exact I]; unfold first_instant, last_instant, slide, low, high; now rewrite E1, E2. }
  assert (Ws : Forall2 (same_window s s') ps ps) by (clear - W; induction ps; constructor; auto).
  split.
  - apply alike_reports with (P := fun _ => True) (tuples := first_is_tuple ps); rewrite ?PS; fold ps.
    + generalize (first_is_tuple ps); intros b; clear - W D E1 E4; induction ps; constructor; auto.
      apply windows_alike; [fewer D| |apply W|]; [rewrite E4; now destruct (periodic s)|].
      intros t; unfold is_periodic, border; now rewrite E1, E4.
    + intros; apply fires_of_same_trigger; [clear - D; now equate D|assumption].
    + clear - D; now equate D.
    + clear - D; now equate D.
    + now split.
    + intros a; unfold own; now rewrite E1, E5.
    + now apply same_starts.
    + assert (El : elements_of q all (admitted (lateness s)) = elements_of q all (admitted (lateness s')))
        by (unfold elements_of; apply flat_map_ext; intros; symmetry; apply Ad).
      unfold arrivals_of, horizon_of, reach, slide; now rewrite El, E2, E3.
    + apply all_elements; auto.
    + apply Forall_forall; intros a _ start since; unfold own; rewrite E1, E5; unfold interval.
      now rewrite E6, (same_moves s s' ps ps Ws).
    + apply same_tick_same_dues; clear - D; now equate D.
  - unfold elements_of; induction (nodup Z.eq_dec (map on (windows q))) as [|n ns IH]; cbn; [reflexivity|].
    rewrite IH, app_nil_r; unfold dropped; rewrite none_is_late; rewrite ?L'; trivial; easy.
Qed.
