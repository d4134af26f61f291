(** ORA-2: two values of t0 in one class give the same contents in the same order.

    Windows move with t0, and what is reported moves with them.  Two values are in one class if it comes out the same, for
    each instant at which a window closes, which arrivals are later, which elements each window then holds, and whether
    [periodic] holds; and, under the time tick, which arrivals are later than s0.  The theorem is about every query without
    tuple-based windows, and every semantics whose report names window close and whose [baseline] is the last report. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions TimeShift Choices.
Import ListNotations.
Open Scope Z_scope.

Lemma filter_nothing {A} (xs : list A) : filter (fun _ => false) xs = [].
Proof. induction xs as [|x xs IH]; [reflexivity|exact IH]. Qed.
Lemma filter_upto g A a b B : A <= a -> b <= B ->
  filter g (upto a b) = filter (fun t => (a <=? t) && (t <? b) && g t) (upto A B).
Proof.
  intros LA LB; assert (N : forall u v, v <= a \/ b <= u -> filter (fun t => (a <=? t) && (t <? b) && g t) (upto u v) = []).
  { intros u v H; rewrite (filter_ext_in _ (fun _ => false)); [apply filter_nothing|].
    intros t Ht; apply in_upto in Ht; destruct (a <=? t) eqn:E, (t <? b) eqn:F; try reflexivity; lia. }
  destruct (Z.le_gt_cases a b) as [L|L].
  - rewrite <- (upto_app A a B), <- (upto_app a b B), !filter_app, (N A a), (N b B) by lia; cbn; rewrite app_nil_r.
    apply filter_ext_in; intros t Ht; apply in_upto in Ht; now replace ((a <=? t) && (t <? b)) with true by lia.
  - rewrite upto_nil by lia; symmetry; rewrite (filter_ext_in _ (fun _ => false)); [apply filter_nothing|].
    intros t _; destruct (a <=? t) eqn:E, (t <? b) eqn:F; try reflexivity; lia.
Qed.
Lemma filter_moved m g a b : map (fun t => t + m) (filter g (upto a b)) = filter (fun t => g (t - m)) (upto (a + m) (b + m)).
Proof.
  assert (E : upto (a + m) (b + m) = map (fun t => t + m) (upto a b)).
  { unfold upto; rewrite map_map; replace (b + m - (a + m)) with (b - a) by lia; apply map_ext; intros; lia. }
  rewrite E; clear E; induction (upto a b) as [|t ts IH]; cbn; [reflexivity|]; replace (t + m - m) with t by lia.
  destruct (g t); cbn; now rewrite IH.
Qed.

Lemma none_fires s sts : sts <> [] -> (forall x, In x sts -> snd x = false) -> fires s sts = false.
Proof.
  intros N A; unfold fires; destruct (trigger s).
  - apply not_true_is_false; rewrite existsb_exists; intros (x & H & T); rewrite A in T; easy.
  - destruct sts as [|x xs]; [easy|]; cbn; now rewrite (A x (or_introl eq_refl)).
  - destruct sts as [|x xs]; [easy|]; apply A; now left.
  - apply not_true_is_false; rewrite existsb_exists; intros (x & H & T); rewrite (A x H), andb_false_r in T; easy.
Qed.

Section Classes.
  Variables (m : Z) (s : Semantics) (q : Query) (all : list Element) (x : Z).
  Hypothesis integer_t0 : t0 s = At x.
  Hypothesis as_early_as_it_is : not_before s = None.
  (** The same semantics with t0 moved by m. *)
  Definition moved_t0 : Semantics :=
    {| t0 := At (x + m); closure := closure s; slide_choice := slide_choice s; partial := partial s; not_before := not_before s;
       window_close := window_close s; content_change := content_change s; non_empty := non_empty s;
       periodic := periodic s; close_rule := close_rule s; baseline := baseline s; change_scope := change_scope s;
       expiry_seen := expiry_seen s; missed := missed s; tick := tick s; trigger := trigger s; collection := collection s;
       consumption := consumption s; r2s := r2s s; base := base s; empty := empty s; horizon := horizon s;
       instant := instant s; lateness := lateness s |}.
  Let s' := moved_t0.
  Definition moved (p : Placed) : Placed :=
    {| win := win p; origin := option_map (fun o => o + m) (origin p); ids := ids p; t1 := t1 p |}.
  Definition moved_report (r : Report) : Report :=
    {| at_instant := at_instant r + m; arrival := arrival r;
       shown := map (option_map (fun b => (fst b + m, snd b + m))) (shown r); holding := holding r |}.

  (** * What moves *)

  Lemma moved_first p o n : first_instant s' (moved p) (o + m) n = first_instant s p o n + m.
  Proof. change (first_instant s' (moved p)) with (first_instant s p); unfold first_instant; lia. Qed.
  Lemma moved_last p o n : last_instant s' (moved p) (o + m) n = last_instant s p o n + m.
  Proof. change (last_instant s' (moved p)) with (last_instant s p); unfold last_instant; lia. Qed.
  Lemma moved_current p t : current s' (moved p) (t + m) = current s p t.
  Proof.
    unfold current; cbn [moved origin]; destruct (origin p) as [o|]; [|reflexivity]; cbn [option_map].
    unfold current_at, s0_at; change (win (moved p)) with (win p); rewrite moved_first, moved_last.
    change (slide s' (win p)) with (slide s (win p)); change (least s' (win p)) with (least s (win p)).
    replace (t + m <? first_instant s p o 0 + m - 1) with (t <? first_instant s p o 0 - 1) by lia.
    now replace (t + m - (last_instant s p o 0 + m)) with (t - last_instant s p o 0) by lia.
  Qed.
  Lemma moved_borders p t : borders s' (moved p) (t + m) = option_map (fun b => (fst b + m, snd b + m)) (borders s p t).
  Proof.
    unfold borders; rewrite moved_current; cbn [moved origin win]; change (slide s' (win p)) with (slide s (win p)).
    destruct (origin p), (current s p t), (kind (win p)); cbn; try reflexivity; do 2 f_equal; lia.
  Qed.
  Lemma moved_closes p t : closes_at s' (moved p) (t + m) = closes_at s p t.
  Proof.
    unfold closes_at; cbn [moved origin win]; destruct (origin p) as [o|]; cbn [option_map]; [|reflexivity].
    change (slide s' (win p)) with (slide s (win p)); change (least s' (win p)) with (least s (win p)).
    cbv zeta; rewrite !moved_last; replace (t + m - (last_instant s p o 0 + m)) with (t - last_instant s p o 0) by lia.
    f_equal; lia.
  Qed.
  Lemma moved_scope p t : has_scope s' (moved p) (t + m) = has_scope s p t.
  Proof. unfold has_scope; now rewrite moved_current. Qed.

  (** * A class of t0 *)

  Let ps := map (place s q all) (windows q).
  Let arrivals := arrivals_of s q all.
  Let es := arriving s q all.
  (** A window that exists closes at t. *)
  Definition some_closes (t : Z) : bool := existsb (fun p => closes_at s p t && has_scope s p t) ps.
  (** The element is in the window's content at t. *)
  Definition is_in (s : Semantics) (p : Placed) (t : Z) (e : Element) : bool :=
    match origin p, current s p t with Some o, Some n => meets s p o n t e | _, _ => false end.
  Let s0_of_all := fold_left Z.min (tl (starts s ps)) (hd 0 (starts s ps)).
  (** A window closes at t, and some arrival is later. *)
  Definition is_reported (t : Z) : bool := some_closes t && existsb (fun a => t <? own s ps a) arrivals.
  (** Two values of t0 in one class. *)
  Hypothesis same_closers : forall t a, some_closes t = true -> In a arrivals -> (t <? own s ps a) = (t + m <? own s ps a).
  Hypothesis same_members : forall t p e, is_reported t = true -> In p ps -> In e es -> stream e = on (win p) ->
    is_in s p t e = is_in s' (moved p) (t + m) e.
  Hypothesis same_beats : forall t p, is_reported t = true -> In p ps -> is_periodic s p t = is_periodic s' (moved p) (t + m).
  Hypothesis same_first_look : tick s = TimeTick -> forall a, In a arrivals -> (s0_of_all <? at_ a) = (s0_of_all + m <? at_ a).

  Hypothesis close : window_close s = true.
  Hypothesis last_report : baseline s = LastReport.
  Hypothesis no_tuples : forall w, In w (windows q) -> kind w <> Tuple.

  Lemma moved_content t p b : is_reported t = true -> In p ps -> (forall e, In e b -> In e es) ->
    content s' (moved p) (t + m) b = content s p t b.
  Proof.
    intros C Hp B; unfold content; rewrite moved_current; cbn [moved origin win].
    pose proof (fun e => same_members t p e C Hp) as M; unfold is_in in M; rewrite moved_current in M; cbn [moved origin] in M.
    destruct (origin p) as [o|]; cbn [option_map] in *; [|reflexivity]; destruct (current s p t) as [n|]; [|reflexivity].
    assert (F : filter (meets s' (moved p) (o + m) n (t + m)) (filter (fun e => stream e =? on (win p)) b) =
                filter (meets s p o n t) (filter (fun e => stream e =? on (win p)) b)).
    { apply filter_ext_in; intros e He; apply filter_In in He as [He St]; symmetry; apply M; [auto|lia]. }
    destruct (kind (win p)); auto.
  Qed.
  Lemma moved_contents t b : is_reported t = true -> (forall e, In e b -> In e es) ->
    contents s' (map moved ps) (t + m) b = contents s ps t b.
  Proof. intros C B; unfold contents; rewrite map_map; apply map_ext_in; intros p Hp; now apply moved_content. Qed.
  (** When the arrival with this own instant is looked at, a report is possible at t. *)
  Definition possible (s : Semantics) (ps : list Placed) (own t : Z) : bool := existsb (timely s own t) ps.
  Lemma timely_closes o t p : timely s o t p = true -> closes_at s p t && has_scope s p t = true /\ t <? o = true.
  Proof.
    unfold timely; rewrite close; cbn [negb orb]; intros T; apply andb_true_iff in T as [T _].
    destruct (closes_at s p t), (t <? o), (has_scope s p t); cbn in T; easy.
  Qed.
  Lemma possible_closes o t : possible s ps o t = true -> some_closes t = true /\ t < o.
  Proof.
    unfold possible, some_closes; rewrite !existsb_exists; intros (p & Hp & T); apply timely_closes in T as [C L].
    split; [exists p; auto|lia].
  Qed.
  Lemma possible_is_reported a t : In a arrivals -> possible s ps (own s ps a) t = true -> is_reported t = true.
  Proof.
    intros Ha H; apply possible_closes in H as [C L]; unfold is_reported; rewrite C; apply existsb_exists; exists a; split; [assumption|lia].
  Qed.
  Lemma moved_timely a t p : In a arrivals -> In p ps ->
    timely s' (own s ps a) (t + m) (moved p) = timely s (own s ps a) t p.
  Proof.
    intros Ha Hp; unfold timely; change (window_close s') with (window_close s); change (periodic s') with (periodic s).
    rewrite moved_closes, moved_scope, close; cbn [negb orb].
    destruct (closes_at s p t && has_scope s p t) eqn:C.
    - assert (S : some_closes t = true) by (apply existsb_exists; eauto).
      rewrite <- (same_closers t a S Ha); destruct (t <? own s ps a) eqn:L; [|now rewrite !andb_false_r].
      rewrite (same_beats t p); auto; unfold is_reported; rewrite S; apply existsb_exists; eauto.
    - destruct (closes_at s p t), (has_scope s p t); try discriminate; now rewrite ?andb_false_r.
  Qed.
  Lemma moved_possible a t : In a arrivals -> possible s' (map moved ps) (own s ps a) (t + m) = possible s ps (own s ps a) t.
  Proof.
    intros Ha; unfold possible; pose proof (fun p => moved_timely a t p Ha) as M; clearbody ps.
    assert (G : forall qs, (forall p, In p qs -> In p ps) -> existsb (timely s' (own s ps a) (t + m)) (map moved qs) = existsb (timely s (own s ps a) t) qs).
    { induction qs as [|p qs IH]; intros I; cbn; [reflexivity|]; rewrite M, IH; auto; [intros; apply I; now right|apply I; now left]. }
    now apply G.
  Qed.

  (** * Reports *)

  (** Where no report is possible, nothing is reported, and what was last reported stays. *)
  Lemma visit_possible s1 qs b o k ts : qs <> [] -> baseline s1 = LastReport -> forall y y', reported y <> [] -> reported y = reported y' ->
    fst (visit s1 qs b o k ts y) = fst (visit s1 qs b o k (filter (possible s1 qs o) ts) y') /\
    reported (snd (visit s1 qs b o k ts y)) = reported (snd (visit s1 qs b o k (filter (possible s1 qs o) ts) y')) /\
    reported (snd (visit s1 qs b o k ts y)) <> [].
  Proof.
    intros Q L; induction ts as [|t ts IH]; intros y y' N E; cbn [visit filter]; [auto|].
    unfold compared_with; rewrite L.
    destruct (possible s1 qs o t) eqn:P.
    - cbn [visit]; unfold compared_with; rewrite L, E; set (ok := fires s1 _); cbv zeta.
      set (c := contents s1 qs t b); assert (C : c <> []) by (unfold c, contents; now destruct qs).
      match goal with |- context [visit s1 qs b o k ts ?z] => match goal with |- context [visit s1 qs b o k (filter _ ts) ?z'] =>
        specialize (IH z z'); destruct (visit s1 qs b o k ts z), (visit s1 qs b o k (filter (possible s1 qs o) ts) z') end end.
      cbn in IH; destruct IH as (F & G & H).
      + destruct (match missed s1 with All => ok | Latest => false end); [exact C|congruence].
      + reflexivity.
      + destruct ok; cbn; rewrite ?F; auto.
    - assert (F : fires s1 (map (fun x => (win (fst x), timely s1 o t (fst x) && worthy s1 t b (fst x) (snd x))) (combine qs (reported y))) = false).
      { assert (A : forall st, In st (map (fun x => (win (fst x), timely s1 o t (fst x) && worthy s1 t b (fst x) (snd x))) (combine qs (reported y))) -> snd st = false).
        { intros st H; apply in_map_iff in H as ([p c] & <- & H); apply in_combine_l in H; cbn.
          unfold possible in P; destruct (timely s1 o t p) eqn:T; [|reflexivity].
          assert (X : existsb (timely s1 o t) qs = true) by (apply existsb_exists; eauto); congruence. }
        assert (Ne : map (fun x => (win (fst x), timely s1 o t (fst x) && worthy s1 t b (fst x) (snd x))) (combine qs (reported y)) <> [])
          by (destruct qs, (reported y); cbn; congruence).
        now apply none_fires. }
      rewrite F; cbv zeta.
      match goal with |- context [visit s1 qs b o k ts ?z] =>
        specialize (IH z y'); destruct (visit s1 qs b o k ts z) end.
      cbn in *; apply IH; destruct (missed s1); auto.
  Qed.
  Lemma visit_holds s1 qs b o k : qs <> [] -> forall ts y r, In r (fst (visit s1 qs b o k ts y)) -> holding r <> [].
  Proof.
    intros Q; induction ts as [|t ts IH]; intros y r; cbn [visit]; [easy|]; cbv zeta.
    match goal with |- context [visit s1 qs b o k ts ?z] => specialize (IH z r); destruct (visit s1 qs b o k ts z) end.
    destruct (fires _ _); cbn in *; [intros [<-|H]; [unfold report_at, contents; cbn; now destruct qs|auto]|auto].
  Qed.
  Lemma moved_states a t b cs : is_reported t = true -> In a arrivals -> (forall e, In e b -> In e es) ->
    map (fun x => (win (fst x), timely s' (own s ps a) (t + m) (fst x) && worthy s' (t + m) b (fst x) (snd x))) (combine (map moved ps) cs) =
    map (fun x => (win (fst x), timely s (own s ps a) t (fst x) && worthy s t b (fst x) (snd x))) (combine ps cs).
  Proof.
    intros C Ha B.
    assert (G : forall qs, (forall p, In p qs -> In p ps) -> forall cs,
      map (fun x => (win (fst x), timely s' (own s ps a) (t + m) (fst x) && worthy s' (t + m) b (fst x) (snd x))) (combine (map moved qs) cs) =
      map (fun x => (win (fst x), timely s (own s ps a) t (fst x) && worthy s t b (fst x) (snd x))) (combine qs cs)).
    { induction qs as [|p qs IH]; intros I [|c cs']; cbn [map combine]; try reflexivity.
      rewrite IH by (intros; apply I; now right); cbn [fst snd moved win]; do 2 f_equal.
      assert (Hp : In p ps) by (apply I; now left); unfold worthy; rewrite moved_timely, moved_scope, moved_content by auto; reflexivity. }
    now apply G.
  Qed.
  Lemma moved_visit a b k ts : In a arrivals -> (forall e, In e b -> In e es) -> (forall t, In t ts -> is_reported t = true) ->
    forall y y', reported y = reported y' ->
    fst (visit s' (map moved ps) b (own s ps a) k (map (fun t => t + m) ts) y') = map moved_report (fst (visit s ps b (own s ps a) k ts y)) /\
    reported (snd (visit s' (map moved ps) b (own s ps a) k (map (fun t => t + m) ts) y')) = reported (snd (visit s ps b (own s ps a) k ts y)).
  Proof.
    intros Ha B; induction ts as [|t ts IH]; intros C y y' E; cbn [visit map]; [auto|].
    assert (Ct : is_reported t = true) by (apply C; now left).
    unfold compared_with; change (baseline s') with (baseline s); rewrite last_report, <- E, moved_states, moved_contents by assumption.
    change (fires s') with (fires s); change (missed s') with (missed s); set (ok := fires s _); cbv zeta.
    assert (R : report_at s' (map moved ps) (t + m) k b = moved_report (report_at s ps t k b)).
    { unfold report_at, moved_report; cbn [at_instant arrival shown holding]; rewrite moved_contents by assumption; f_equal.
      rewrite !map_map; apply map_ext; intros; apply moved_borders. }
    rewrite R; match goal with |- context [visit s ps b _ k ts ?z] => match goal with |- context [visit s' (map moved ps) b _ k _ ?z'] =>
      specialize (IH ltac:(intros; apply C; now right) z z'); destruct (visit s ps b (own s ps a) k ts z), (visit s' (map moved ps) b (own s ps a) k (map (fun t => t + m) ts) z') end end.
    cbn in IH; destruct IH as [F G]; [destruct (match missed s with All => ok | Latest => false end); auto|].
    destruct ok; cbn; rewrite ?F; auto.
  Qed.
  (** The instants at which a report is possible, from what was looked at on to an arrival. *)
  Lemma possible_instants s1 qs start since o : (forall t, possible s1 qs o t = true -> t < o) ->
    filter (possible s1 qs o) (interval s1 qs start since o) = filter (fun t => (start <=? t) && possible s1 qs o t) (upto since o).
  Proof.
    intros P; assert (O : possible s1 qs o o = false) by (apply not_true_is_false; intros H; apply P in H; lia).
    unfold interval; match goal with |- context [upto since o ++ ?e] => set (extra := e) end.
    assert (X : filter (possible s1 qs o) (filter (fun t => start <=? t) extra) = []).
    { unfold extra; destruct (_ || _); cbn; [|reflexivity]; destruct (start <=? o); cbn; now rewrite ?O. }
    rewrite !filter_app, X, app_nil_r; clear; induction (upto since o) as [|t ts IH]; cbn; [reflexivity|].
    destruct (start <=? t); cbn; [destruct (possible s1 qs o t)|]; now rewrite IH.
  Qed.
  (** What was looked at is the same for each window that closes. *)
  Definition same_since (start since since' : Z) : Prop :=
    forall t, some_closes t = true -> start <= t -> (since <=? t) = (since' <=? t + m).
  Lemma moved_instants start since since' a : In a arrivals -> same_since start since since' ->
    filter (possible s' (map moved ps) (own s ps a)) (interval s' (map moved ps) (start + m) since' (own s ps a)) =
    map (fun t => t + m) (filter (possible s ps (own s ps a)) (interval s ps start since (own s ps a))).
  Proof.
    intros Ha Si; set (o := own s ps a) in *.
    rewrite !possible_instants.
    - rewrite filter_moved, (filter_upto _ (Z.min since' (since + m)) since' o (Z.max o (o + m))) by lia.
      rewrite (filter_upto _ (Z.min since' (since + m)) (since + m) (o + m) (Z.max o (o + m))) by lia.
      apply filter_ext; intros u; pose proof (moved_possible a (u - m) Ha) as P; fold o in P; replace (u - m + m) with u in P by lia.
      rewrite P; destruct (possible s ps o (u - m)) eqn:E; [|now rewrite !andb_false_r].
      apply possible_closes in E as [C L]; pose proof (same_closers (u - m) a C Ha) as Sc; fold o in Sc; replace (u - m + m) with u in Sc by lia.
      destruct (start <=? u - m) eqn:St; [|replace (start + m <=? u) with false by lia; cbn; now rewrite !andb_false_r].
      specialize (Si (u - m) C ltac:(lia)); replace (u - m + m) with u in Si by lia.
      replace (start + m <=? u) with true by lia; replace (since + m <=? u) with (since <=? u - m) by lia.
      replace (u <? o + m) with (u - m <? o) by lia; now rewrite Si, Sc.
    - intros t H; now apply possible_closes in H.
    - intros t H; pose proof (moved_possible a (t - m) Ha) as P; fold o in P; replace (t - m + m) with t in P by lia; rewrite H in P.
      symmetry in P; apply possible_closes in P as [C L]; pose proof (same_closers (t - m) a C Ha) as Sc; fold o in Sc.
      replace (t - m + m) with t in Sc by lia; lia.
  Qed.
  Lemma moved_by_instant a b k start since since' y y' : In a arrivals -> (forall e, In e b -> In e es) -> ps <> [] ->
    same_since start since since' -> reported y <> [] -> reported y = reported y' ->
    let found := by_instant s ps b (own s ps a) k (interval s ps start since (own s ps a)) y in
    let found' := by_instant s' (map moved ps) b (own s ps a) k (interval s' (map moved ps) (start + m) since' (own s ps a)) y' in
    fst found' = map moved_report (fst found) /\ reported (snd found) = reported (snd found') /\ reported (snd found) <> [].
  Proof.
    intros Ha B Ne Si N E; cbv zeta; set (o := own s ps a) in *.
    set (ts := interval s ps start since o); set (ts' := interval s' (map moved ps) (start + m) since' o).
    assert (Ne' : map moved ps <> []) by (destruct ps; cbn; congruence).
    destruct (visit_possible s ps b o k ts Ne last_report y y N eq_refl) as (V1 & V2 & V3).
    destruct (visit_possible s' (map moved ps) b o k ts' Ne' last_report y' y' ltac:(congruence) eq_refl) as (W1 & W2 & W3).
    pose proof (moved_instants start since since' a Ha Si) as I; fold o in I; fold ts ts' in I; rewrite I in W1, W2.
    destruct (moved_visit a b k (filter (possible s ps o) ts) Ha B ltac:(intros t Ht; apply filter_In in Ht as [_ Ht]; now apply (possible_is_reported a)) y y' E) as [M1 M2].
    fold o in M1, M2.
    unfold by_instant; destruct (visit s ps b o k ts y) as [rs z], (visit s' (map moved ps) b o k ts' y') as [rs' z']; cbn [fst snd] in *.
    change (missed s') with (missed s).
    assert (Rs : rs' = map moved_report rs) by congruence; assert (Z : reported z = reported z') by congruence.
    destruct (missed s); cbn [fst snd]; [auto|]; rewrite Rs, <- map_rev.
    destruct (rev rs) as [|r rest] eqn:Rv; cbn [map fst snd reported]; [auto|]; split; [reflexivity|split; [reflexivity|]].
    assert (Hr : In r (fst (visit s ps b o k (filter (possible s ps o) ts) y))) by (rewrite <- V1; apply in_rev; rewrite Rv; now left).
    apply (visit_holds s ps b o k Ne _ _ _ Hr).
  Qed.
  Lemma moved_own qs a : own s' (map moved qs) a = own s qs a.
  Proof. now destruct qs. Qed.
  Lemma moved_run start xs : ps <> [] -> (forall a, In a xs -> In a arrivals) ->
    (forall a e, In a arrivals -> element a = Some e -> In e es) -> forall b l l' y y' k,
    (forall e, In e b -> In e es) -> same_since start (looked_own l) (looked_own l') -> looked_batch l = looked_batch l' ->
    (tick s = TimeTick -> forall a, In a arrivals -> (looked_app l <? at_ a) = (looked_app l' <? at_ a)) ->
    reported y <> [] -> reported y = reported y' ->
    run s' (map moved ps) (start + m) b l' y' k xs = map moved_report (run s ps start b l y k xs).
  Proof.
    intros Ne; induction xs as [|a xs IH]; intros A El b l l' y y' k B Si Ba Ap N E; cbn [run map]; [reflexivity|].
    assert (Ha : In a arrivals) by (apply A; now left).
    assert (B' : forall e, In e match element a with Some e => b ++ [e] | None => b end -> In e es).
    { intros e; specialize (El a); destruct (element a) as [z|]; [|apply B]; rewrite in_app_iff; intros [H|[<-|[]]]; auto. }
    assert (D : is_due s' l' a = is_due s l a).
    { unfold is_due; change (tick s') with (tick s); destruct (tick s); [reflexivity|rewrite Ap; auto|now rewrite Ba]. }
    rewrite D; destruct (is_due s l a); [|apply IH; auto; intros; apply A; now right].
    assert (F : first_is_tuple ps = false /\ first_is_tuple (map moved ps) = false).
    { unfold ps; assert (G : forall ws, (forall w, In w ws -> kind w <> Tuple) ->
        first_is_tuple (map (place s q all) ws) = false /\ first_is_tuple (map moved (map (place s q all) ws)) = false); [|now apply G].
      intros [|w ws] K; [easy|]; cbn; specialize (K w (or_introl eq_refl)); now destruct (kind w). }
    destruct F as [-> ->]; rewrite moved_own.
    destruct (moved_by_instant a b k start (looked_own l) (looked_own l') y y' Ha B Ne Si N E) as (R & M & M').
    destruct (by_instant s ps _ _ _ _ _) as [rs z], (by_instant s' _ _ _ _ _ _) as [rs' z']; cbn [fst snd] in R, M, M'.
    rewrite map_app, R; f_equal; apply IH; auto; [intros; apply A; now right|].
    intros t C L; cbn; pose proof (same_closers t a C Ha); lia.
  Qed.
  Lemma moved_places : map (place s' q all) (windows q) = map moved ps.
  Proof.
    unfold ps; rewrite map_map; apply map_ext; intros w; unfold place, moved; cbn [win ids t1 origin].
    unfold origin_of, not_earlier; cbn [t0 not_before s' moved_t0]; now rewrite integer_t0, as_early_as_it_is.
  Qed.
  Lemma moved_starts : starts s' (map moved ps) = map (fun t => t + m) (starts s ps).
  Proof.
    unfold starts; generalize ps; intros qs; induction qs as [|p qs IH]; cbn [map flat_map]; [reflexivity|]; rewrite IH, map_app; f_equal.
    unfold s0, s0_at; cbn [moved origin]; destruct (origin p); cbn [option_map map]; [|reflexivity]; rewrite moved_first; f_equal; lia.
  Qed.
  Theorem one_class_of_t0 : reports s' q all = map moved_report (reports s q all).
  Proof.
    unfold reports; rewrite moved_places; fold ps; rewrite moved_starts; pose proof same_first_look as Fi; unfold s0_of_all in Fi; revert Fi.
    case_eq (starts s ps); [reflexivity|intros u us St]; cbn [map hd tl]; intros Fi; cbv zeta; rewrite later_minimum.
    change (arrivals_of s' q all) with arrivals; fold arrivals.
    assert (Ne : ps <> []) by (intros H; rewrite H in St; discriminate).
    apply moved_run; cbn; auto.
    - intros a e Ha E; unfold arrivals in Ha; rewrite arrivals_are in Ha; apply in_app_iff in Ha as [Ha|Ha].
      + apply in_map_iff in Ha as (z & <- & Hz); injection E as <-; exact Hz.
      + destruct (horizon_of _ _ _); [destruct Ha as [<-|[]]; discriminate|easy].
    - easy.
    - intros t _ H; cbn in *; lia.
    - destruct ps; cbn; congruence.
    - now rewrite map_map.
  Qed.
  (** Each answer is the same. *)
  Lemma moved_outputs answer xs b la kept rs : outputs answer s' q xs b la kept (map moved_report rs) =
    map (fun r => (moved_report (fst r), snd r)) (outputs answer s q xs b la kept rs).
  Proof.
    revert b la kept; induction rs as [|r rs IH]; intros b la kept; cbn [outputs map]; [reflexivity|]; cbv zeta.
    change (holding (moved_report r)) with (holding r); rewrite IH.
    change (answer_over answer s' q xs) with (answer_over answer s q xs); change (op s' q) with (op s q).
    change (empty s') with (empty s); change (base s') with (base s); now destruct (emits _ _ _).
  Qed.
  Corollary one_class_of_t0_answers answer : map rows (evaluate answer s' q all) = map rows (evaluate answer s q all).
  Proof.
    unfold evaluate; cbv zeta; rewrite one_class_of_t0; change (lateness s') with (lateness s).
    rewrite moved_outputs, !map_map; reflexivity.
  Qed.
End Classes.
