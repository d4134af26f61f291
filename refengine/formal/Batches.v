(** The law "Batches" of docs/laws.md, for all queries. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Alike Equivalences Choices Outputs.
Import ListNotations.
Open Scope Z_scope.

Section Batches.
  (** Elements with other batch ids. *)
  Variable f : Element -> Z.
  Definition re (e : Element) : Element :=
    {| stream := stream e; app := app e; until := until e; sys := sys e; batch := f e; graph := graph e |}.
  Definition re_report (r : Report) : Report :=
    {| at_instant := at_instant r; arrival := arrival r; shown := shown r; holding := map (map re) (holding r) |}.
  Definition re_emitted (e : Emitted) : Emitted :=
    {| report := re_report (report e); triggered_by := triggered_by e; stamped := stamped e; late := late e;
       rows := rows e |}.
  Let re_memory (m : Memory) : Memory :=
    {| reported := map (map re) (reported m); previous := map (map re) (previous m) |}.
  Variables (s : Semantics) (q : Query).

  Lemma re_sys es : map sys (map re es) = map sys es.
  Proof. now rewrite map_map. Qed.
  Lemma re_insert g e es : (forall a b, g (re a) (re b) = g a b) -> insert g (re e) (map re es) = map re (insert g e es).
  Proof. intros G; induction es as [|x es IH]; cbn; [reflexivity|]; rewrite G; destruct (g e x); cbn; now rewrite ?IH. Qed.
  Lemma re_sort g es : (forall a b, g (re a) (re b) = g a b) -> sort g (map re es) = map re (sort g es).
  Proof. intros G; induction es as [|e es IH]; cbn; [reflexivity|]; rewrite IH; now apply re_insert. Qed.
  Lemma re_late d e es : is_late d (re e) (map re es) = is_late d e es.
  Proof.
    unfold is_late; destruct d; [|reflexivity]; induction es as [|x es IH]; cbn [existsb map]; [reflexivity|f_equal; exact IH].
  Qed.
  Lemma re_split d earlier es : split_late d (map re earlier) (map re es) =
    (map re (fst (split_late d earlier es)), map re (snd (split_late d earlier es))).
  Proof.
    revert earlier; induction es as [|e es IH]; intros earlier; cbn [split_late map]; [reflexivity|].
    specialize (IH (earlier ++ [e])); rewrite map_app in IH; cbn [map] in IH; rewrite IH, re_late.
    destruct (split_late d (earlier ++ [e]) es); cbn [fst snd]; now destruct (is_late d e earlier).
  Qed.
  Lemma re_admitted d es : admitted d (map re es) = map re (admitted d es).
  Proof. pose proof (re_split d [] es) as H; cbn [map] in H; unfold admitted; rewrite H; cbn [fst]; now apply re_sort. Qed.
  Lemma re_dropped d es : dropped d (map re es) = map re (dropped d es).
  Proof. pose proof (re_split d [] es) as H; cbn [map] in H; unfold dropped; now rewrite H. Qed.
  Lemma re_of_stream n es : filter (fun e => stream e =? n) (map re es) = map re (filter (fun e => stream e =? n) es).
  Proof. now apply filter_of_map. Qed.
  Lemma re_elements all keep : (forall es, keep (map re es) = map re (keep es)) ->
    elements_of q (map re all) keep = map re (elements_of q all keep).
  Proof.
    intros K; unfold elements_of; induction (nodup Z.eq_dec (map on (windows q))) as [|n ns IH]; cbn; [reflexivity|].
    now rewrite IH, re_of_stream, K, map_app.
  Qed.
  Lemma re_ids w n es : ids_from w n (map re es) = ids_from w n es.
  Proof. revert n; induction es as [|e es IH]; intros n; cbn; [reflexivity|]; now rewrite IH. Qed.
  Lemma re_place all w : place s q (map re all) w = place s q all w.
  Proof.
    unfold place; rewrite re_of_stream, re_admitted, re_ids; now destruct (admitted _ _).
  Qed.
  Lemma re_content p t b : content s p t (map re b) = map re (content s p t b).
  Proof.
    unfold content; rewrite re_of_stream; set (es := filter _ b).
    destruct (origin p) as [o|]; [|reflexivity]; destruct (current s p t) as [n|]; [|reflexivity].
    assert (M : filter (meets s p o n t) (map re es) = map re (filter (meets s p o n t) es)).
    { apply filter_of_map; intros e; unfold meets, begins, ends; reflexivity. }
    destruct (kind (win p)); try exact M.
    - unfold latest_rows; rewrite map_map; now apply filter_of_map.
    - clear M; induction es as [|e es IH]; cbn; [reflexivity|].
      assert (K : length (filter (same_key (win p) (re e)) (map re es)) = length (filter (same_key (win p) e) es))
        by (rewrite (filter_of_map _ re (same_key (win p) e)) by reflexivity; apply map_length).
      unfold Content in *; rewrite K, IH; now destruct (_ <? _).
  Qed.
  Lemma re_contents ps t b : contents s ps t (map re b) = map (map re) (contents s ps t b).
  Proof. unfold contents; rewrite map_map; apply map_ext; intros; apply re_content. Qed.
  Lemma re_worthy t b p c : worthy s t (map re b) p (map re c) = worthy s t b p c.
  Proof.
    unfold worthy, differs; rewrite re_content, !re_sys.
    assert (G : forall es, flat_map graph (map re es) = flat_map graph es)
      by (induction es as [|e es IH]; cbn; [reflexivity|now rewrite IH]).
    rewrite !G; now destruct (content s p t b).
  Qed.
  Lemma re_states (g g' : Placed -> Content -> bool) ps cs : (forall p c, g' p (map re c) = g p c) ->
    map (fun x => (win (fst x), g' (fst x) (snd x))) (combine ps (map (map re) cs)) =
    map (fun x => (win (fst x), g (fst x) (snd x))) (combine ps cs).
  Proof. intros G; revert cs; induction ps as [|p ps IH]; intros [|c cs]; cbn; try reflexivity; now rewrite G, IH. Qed.
  Lemma re_compared m : compared_with s (re_memory m) = map (map re) (compared_with s m).
  Proof. unfold compared_with; now destruct (baseline s). Qed.
  Let both_of (x : list Report * Memory) := (map re_report (fst x), re_memory (snd x)).
  Lemma re_report_at ps t k b : report_at s ps t k (map re b) = re_report (report_at s ps t k b).
  Proof. unfold report_at, re_report; cbn; now rewrite re_contents. Qed.
  Lemma re_visit ps b o k ts m : visit s ps (map re b) o k ts (re_memory m) = both_of (visit s ps b o k ts m).
  Proof.
    revert m; induction ts as [|t ts IH]; intros m; cbn [visit]; [reflexivity|].
    rewrite re_compared, (re_states (fun p c => timely s o t p && worthy s t b p c)
      (fun p c => timely s o t p && worthy s t (map re b) p c)) by (intros; now rewrite re_worthy).
    rewrite re_contents; set (ok := fires s _); cbv zeta.
    match goal with |- context [visit s ps b o k ts ?m1] => specialize (IH m1); set (m2 := m1) in * end.
    replace {| reported := _; previous := map (map re) _ |} with (re_memory m2)
      by (unfold m2, re_memory; cbn; now destruct (match missed s with All => ok | Latest => false end)).
    rewrite IH; destruct (visit s ps b o k ts m2) as [rs r]; cbn; rewrite re_report_at; now destruct ok.
  Qed.
  Lemma re_by_instant ps b o k ts m : by_instant s ps (map re b) o k ts (re_memory m) = both_of (by_instant s ps b o k ts m).
  Proof.
    unfold by_instant; rewrite re_visit; destruct (visit s ps b o k ts m) as [rs r]; cbn.
    destruct (missed s); [reflexivity|]; rewrite <- map_rev; now destruct (rev rs).
  Qed.
  Lemma re_by_tick ps b o k ts m : by_tick s ps (map re b) o k ts (re_memory m) = both_of (by_tick s ps b o k ts m).
  Proof.
    unfold by_tick; destruct ps as [|p qs] eqn:E; [reflexivity|]; destruct (rev ts) as [|final earlier]; [reflexivity|].
    rewrite <- E; cbv zeta.
    set (mm := match earlier with [] => m | t :: _ => _ end).
    replace (match earlier with [] => re_memory m | t :: _ => _ end) with (re_memory mm)
      by (unfold mm; destruct earlier; [reflexivity|unfold re_memory; cbn; now rewrite re_contents]).
    rewrite re_compared, (re_states (worthy s final b) (worthy s final (map re b))) by (intros; apply re_worthy).
    destruct (filter _ _) as [|t ?]; [unfold both_of, re_memory; cbn; now rewrite re_contents|].
    destruct (fires _ _); unfold both_of, re_memory; cbn; now rewrite ?re_report_at, !re_contents.
  Qed.
  (** Arrivals with other batch ids, of which the same are looked at. *)
  Fixpoint same_looks (ps : list Placed) (l l' : Looked) (xs ys : list Arrival) : Prop :=
    match xs, ys with
    | [], [] => True
    | a :: xs', b :: ys' =>
        at_ b = at_ a /\ element b = option_map re (element a) /\ is_due s l a = is_due s l' b /\
        let next (x : Arrival) := {| looked_app := at_ x; looked_batch := a_batch x; looked_own := own s ps a |} in
        same_looks ps (if is_due s l a then next a else l) (if is_due s l a then next b else l') xs' ys'
    | _, _ => False
    end.
  Lemma re_run ps start b l l' m k xs ys : looked_own l' = looked_own l -> same_looks ps l l' xs ys ->
    run s ps start (map re b) l' (re_memory m) k ys = map re_report (run s ps start b l m k xs).
  Proof.
    revert b l l' m k ys; induction xs as [|x xs IH]; intros b l l' m k [|y ys] O H; cbn [same_looks run map] in *; try easy.
    destruct H as (A & E & D & H); rewrite <- D, E, O.
    assert (Ow : own s ps y = own s ps x).
    { unfold own; rewrite A, E; destruct ps as [|p qs]; [reflexivity|]; now destruct (kind (win p)), (element x). }
    assert (B : match option_map re (element x) with Some e => map re b ++ [e] | None => map re b end =
                map re (match element x with Some e => b ++ [e] | None => b end))
      by (destruct (element x); cbn; now rewrite ?map_app).
    rewrite B, Ow; destruct (is_due s l x); [|now apply IH].
    set (ts := interval _ _ _ _ _); destruct (first_is_tuple ps).
    - rewrite re_by_tick; destruct (by_tick s ps b _ _ _ _) as [rs r]; cbn; rewrite map_app; f_equal; apply IH; [reflexivity|assumption].
    - rewrite re_by_instant; destruct (by_instant s ps b _ _ _ _) as [rs r]; cbn; rewrite map_app; f_equal; apply IH; [reflexivity|assumption].
  Qed.
  Variable all : list Element.
  Let es := arriving s q all.
  Lemma re_arriving : arriving s q (map re all) = map re es.
  Proof.
    unfold es, arriving; rewrite re_elements by (intros; apply re_admitted); now apply re_sort.
  Qed.
  (** "Under the batch tick batch ids count as an order only: with ids that rise and stay where they did, over all
      streams together, nothing changes but the ids. Under the other ticks a stream can be split into batches in any
      other way, or in none." *)
  Hypothesis ids_rise_and_stay : tick s = BatchTick ->
    (forall a, In a es -> 0 < batch a /\ 0 < f a) /\
    forall a b, In a es -> In b es -> batch a < batch b <-> f a < f b.
  Let ps := map (place s q all) (windows q).
  Lemma the_same_looks start :
    same_looks ps {| looked_app := start; looked_batch := 0; looked_own := start |}
                  {| looked_app := start; looked_batch := 0; looked_own := start |}
               (arrivals_of s q all) (arrivals_of s q (map re all)).
  Proof.
    rewrite !arrivals_are, re_arriving; fold es.
    assert (Ho : horizon_of s (windows q) (map re es) = horizon_of s (windows q) es)
      by (unfold horizon_of; rewrite map_map; reflexivity).
    rewrite Ho, re_sys.
    set (tail := match horizon_of s (windows q) es with None => [] | Some h => _ end).
    set (tail' := match horizon_of s (windows q) es with None => [] | Some h => _ end).
    (* what was last looked at: the same, or an element *)
    assert (G : forall xs l l', (forall e, In e xs -> In e es) ->
      looked_app l = looked_app l' -> looked_own l = looked_own l' ->
      (looked_batch l = 0 /\ looked_batch l' = 0 \/ exists e, In e es /\ looked_batch l = batch e /\ looked_batch l' = f e) ->
      same_looks ps l l' (map arrival_of xs ++ tail) (map arrival_of (map re xs) ++ tail')).
    { assert (Due : forall l l' x y, looked_app l = looked_app l' -> at_ x = at_ y ->
        (tick s = BatchTick -> looked_batch l < a_batch x <-> looked_batch l' < a_batch y) -> is_due s l x = is_due s l' y).
      { intros l l' x y A B C; unfold is_due; rewrite A, B; destruct (tick s); try reflexivity; specialize (C eq_refl); lia. }
      induction xs as [|e xs IH]; intros l l' I A O B; cbn [map List.app same_looks].
      - unfold tail, tail'; destruct (horizon_of s (windows q) es); [|exact Logic.I]; cbn [same_looks].
        split; [reflexivity|split; [reflexivity|split; [|exact Logic.I]]].
        apply Due; [assumption|reflexivity|]; intros T; cbn [a_batch].
        pose proof (maximum_ge (map batch es) 0 0 (or_introl eq_refl)); pose proof (maximum_ge (map batch (map re es)) 0 0 (or_introl eq_refl)).
        destruct B as [[-> ->]|(x & Hx & -> & ->)]; [lia|].
        pose proof (maximum_ge (map batch es) 0 (batch x) (or_intror (in_map _ _ _ Hx))).
        pose proof (maximum_ge (map batch (map re es)) 0 (f x) (or_intror (in_map batch _ _ (in_map re _ _ Hx)))); lia.
      - assert (He : In e es) by (apply I; now left).
        assert (Bd : tick s = BatchTick -> looked_batch l < batch e <-> looked_batch l' < f e).
        { intros T; destruct (ids_rise_and_stay T) as [Po Or]; destruct B as [[-> ->]|(x & Hx & -> & ->)]; [|now apply Or].
          destruct (Po e He); lia. }
        split; [reflexivity|split; [reflexivity|split; [now apply Due|]]]; cbv zeta.
        apply IH; [intros y Hy; apply I; now right| | |]; destruct (is_due _ _ _); auto; cbn.
        right; exists e; repeat split; assumption. }
    apply G; auto.
  Qed.
  Theorem batches_of_reports : reports s q (map re all) = map re_report (reports s q all).
  Proof.
    unfold reports; rewrite (map_ext _ _ (re_place all)); fold ps; destruct (starts s ps) as [|x xs]; [reflexivity|].
    rewrite <- (re_run ps (fold_left Z.min xs x) [] _ {| looked_app := fold_left Z.min xs x; looked_batch := 0; looked_own := fold_left Z.min xs x |}
                  _ 0 _ (arrivals_of s q (map re all)) eq_refl (the_same_looks _)).
    f_equal; unfold re_memory; cbn; now rewrite !map_map.
  Qed.
  Lemma re_dataset cs : dataset q (map (map re) cs) = dataset q cs.
  Proof.
    unfold dataset; do 2 f_equal; generalize (windows q); intros ws.
    revert cs; induction ws as [|w ws IH]; intros [|c cs]; cbn; try reflexivity.
    rewrite IH; do 2 f_equal; induction c as [|e c IHc]; cbn; [reflexivity|now rewrite IHc].
  Qed.
  Lemma re_matches near pats xs : matches s near pats (map re xs) = matches s near pats xs.
  Proof.
    unfold matches; set (numbered := combine _ _); f_equal; generalize (map (fun _ : Word * Word * Word => {| left := []; right := [] |}) (tl pats), [] : list Match).
    induction xs as [|e xs IH]; intros st; cbn [map fold_left]; [reflexivity|]; rewrite IH; reflexivity.
  Qed.
  Lemma re_answer answer xs cs : answer_over answer s q (map re xs) (map (map re) cs) = answer_over answer s q xs cs.
  Proof.
    unfold answer_over; rewrite re_dataset; unfold rows_of_matches; destruct (consumption s); [reflexivity| |];
      (destruct (windows q) as [|w ws]; [reflexivity|]; destruct cs as [|c cs]; [reflexivity|]; cbn [map]; now rewrite re_matches, re_sys).
  Qed.
  Lemma re_outputs answer xs b la kept rs : outputs answer s q (map re xs) b la (map (map re) kept) (map re_report rs) =
    map (fun x => (re_report (fst x), snd x)) (outputs answer s q xs b la kept rs).
  Proof.
    revert b la kept; induction rs as [|r rs IH]; intros b la kept; cbn [outputs map]; [reflexivity|].
    change (holding (re_report r)) with (map (map re) (holding r)); cbv zeta.
    assert (St : map (fun x => still_there (fst x) (snd x)) (combine (map (map re) (holding r)) (map (map re) kept)) =
                 map (map re) (map (fun x => still_there (fst x) (snd x)) (combine (holding r) kept))).
    { generalize (holding r) kept; induction l as [|a l IHl]; intros [|c l']; cbn; try reflexivity.
      f_equal; [|apply IHl]; unfold still_there; rewrite re_sys; now apply filter_of_map. }
    match type of St with ?l = _ => match goal with |- context [map ?g (combine ?x ?y)] => change (map g (combine x y)) with l end end.
    rewrite St, !re_answer, IH; now destruct (emits _ _ _).
  Qed.
  Theorem batches answer : evaluate answer s q (map re all) = map re_emitted (evaluate answer s q all).
  Proof.
    rewrite !evaluate_is, batches_of_reports, re_elements by (intros; apply re_admitted).
    replace (map (fun _ => []) (windows q)) with (map (map re) (map (fun _ : Window => [] : Content) (windows q))) by now rewrite map_map.
    rewrite re_outputs, !map_map; apply map_ext; intros [r b]; unfold emit_as, emitted_of, re_emitted; cbn.
    assert (At : map at_ (arrivals_of s q (map re all)) = map at_ (arrivals_of s q all) /\
                 map a_sys (arrivals_of s q (map re all)) = map a_sys (arrivals_of s q all)).
    { rewrite !arrivals_are, re_arriving; fold es.
      assert (Ho : horizon_of s (windows q) (map re es) = horizon_of s (windows q) es)
        by (unfold horizon_of; rewrite map_map; reflexivity).
      rewrite Ho, re_sys, !map_app, !map_map; destruct (horizon_of s (windows q) es); split; reflexivity. }
    destruct At as [A1 A2]; unfold stamp; cbn; rewrite A1, A2; f_equal.
    rewrite re_elements by (intros; apply re_dropped); rewrite (filter_of_map _ re (fun e => sys e <? nth (Z.to_nat (arrival r)) (map a_sys (arrivals_of s q all)) 0)) by reflexivity.
    now rewrite map_length.
  Qed.
End Batches.
