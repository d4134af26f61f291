(** What is emitted: the laws on static data, on empty answers, on Istream and Dstream, and the entries of
    "What no stream can tell apart" that are about §8 alone. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions R2S Alike Equivalences.
Import ListNotations.
Open Scope Z_scope.

(** * Nothing of §8 changes a report *)

Section Shown.
  Variables (s : Semantics) (ps : list Placed).
  Definition shows (r : Report) : Prop := shown r = map (fun p => borders s p (at_instant r)) ps.
  Lemma visit_shows before o k ts m : Forall shows (fst (visit s ps before o k ts m)).
  Proof.
    revert m; induction ts as [|t ts IH]; intros m; cbn [visit]; [constructor|].
    cbv zeta; match goal with |- context [visit s ps before o k ts ?m1] =>
      specialize (IH m1); destruct (visit s ps before o k ts m1) as [rs m'] end.
    destruct (fires _ _); cbn [fst] in *; [constructor; [reflexivity|assumption]|assumption].
  Qed.
  Lemma by_instant_shows before o k ts m : Forall shows (fst (by_instant s ps before o k ts m)).
  Proof.
    unfold by_instant; pose proof (visit_shows before o k ts m) as V.
    destruct (visit s ps before o k ts m) as [rs m']; cbn [fst] in V; destruct (missed s); [assumption|].
    destruct (rev rs) as [|r ?] eqn:R; [assumption|]; constructor; [|constructor].
    rewrite Forall_forall in V; apply V, in_rev; rewrite R; now left.
  Qed.
  Lemma by_tick_shows before o k ts m : Forall shows (fst (by_tick s ps before o k ts m)).
  Proof.
    unfold by_tick; destruct ps as [|p qs] eqn:E; [constructor|]; destruct (rev ts) as [|t ts']; [constructor|].
    cbv zeta; destruct (filter _ _); [constructor|]; destruct (fires _ _); cbn [fst]; constructor; [|constructor].
    unfold shows; now rewrite E.
  Qed.
  Lemma run_shows start before l m k arrivals : Forall shows (run s ps start before l m k arrivals).
  Proof.
    revert before l m k; induction arrivals as [|a rest IH]; intros; cbn [run]; [constructor|].
    destruct (is_due s l a); [|apply IH].
    set (ts := interval _ _ _ _ _); destruct (first_is_tuple ps).
    - pose proof (by_tick_shows before (own s ps a) k ts m) as B; destruct (by_tick _ _ _ _ _ _ _).
      apply Forall_app; auto.
    - pose proof (by_instant_shows before (own s ps a) k ts m) as B; destruct (by_instant _ _ _ _ _ _ _).
      apply Forall_app; auto.
  Qed.
End Shown.
Lemma reports_show s q all : Forall (shows s (map (place s q all) (windows q))) (reports s q all).
Proof. unfold reports; destruct (starts _ _); [constructor|apply run_shows]. Qed.
Lemma seen_and_shown s s' ps rs rs' :
  (forall p t, borders s p t = borders s' p t) -> Forall (shows s ps) rs -> Forall (shows s' ps) rs' ->
  map seen rs = map seen rs' -> rs = rs'.
Proof.
  intros B F; revert rs'; induction F as [|r rs Sh F IH]; intros [|r' rs'] F' E; try discriminate; [reflexivity|].
  inversion F' as [|? ? Sh' F'']; subst; injection E as E1 E2 E3 E; f_equal; [|now apply IH].
  unfold shows in *; destruct r as [t k sh h], r' as [t' k' sh' h']; cbn in *; subst; f_equal.
  now apply map_ext.
Qed.

Definition of_outputs := [Collection_; Consumption_; R2S_; Base_; Empty_; Instant_].
Theorem outputs_change_no_report s s' q all :
  differ_only_in of_outputs s s' -> reports s q all = reports s' q all.
Proof.
  intros D; apply (seen_and_shown s s' (map (place s q all) (windows q))).
  - intros p t; unfold borders; rewrite (same_current s s' p p t (window_is_itself s s' ltac:(fewer D) p)).
    unfold slide; replace (slide_choice s') with (slide_choice s) by (clear - D; now equate D); reflexivity.
  - apply reports_show.
  - rewrite <- (same_places s s' ltac:(fewer D)); apply reports_show.
  - apply same_instants_same_reports; try (clear - D; now equate D).
    + apply Forall_forall; intros a _ start since; rewrite <- (same_owns s s' ltac:(fewer D)); unfold interval.
      rewrite (same_moves s s' _ _ (windows_are_themselves s s' ltac:(fewer D) _)).
      replace (expiry_seen s') with (expiry_seen s) by (clear - D; now equate D); reflexivity.
    + intros; apply same_tick_same_dues; clear - D; now equate D.
Qed.

(** * Static data *)

(** A report without its relation. *)
Definition without_rows (e : Emitted) := (report e, triggered_by e, stamped e, late e).
Definition but_static (d : list Quad) (q : Query) : Query :=
  {| windows := windows q; registered := registered q; operator := operator q; static := d; patterns := patterns q;
     selected := selected q |}.
Lemma all_are_emitted answer s q es base_ last kept rs :
  empty s = Emit -> map fst (outputs answer s q es base_ last kept rs) = rs.
Proof.
  intros E; revert base_ last kept; induction rs as [|r rs IH]; intros; cbn [outputs]; [reflexivity|].
  cbv zeta; rewrite E; cbn [emits map fst]; now rewrite IH.
Qed.
(** "Static data never affects the condition non-empty, nor any other, nor a content: with it and without
    there are the same reports but for their relations. For empty answers emitted, since static data may make
    an answer empty, or not, and where no element is consumed." *)
Theorem static_data answer s q all d :
  empty s = Emit ->
  map without_rows (evaluate answer s (but_static d q) all) = map without_rows (evaluate answer s q all).
Proof.
  intros E; unfold evaluate; rewrite !map_map.
  set (f := fun r => (r, nth (Z.to_nat (arrival r)) (map at_ (arrivals_of s q all)) 0,
    stamp s (arrivals_of s q all) r,
    Z.of_nat (length (filter (fun e => sys e <? nth (Z.to_nat (arrival r)) (map a_sys (arrivals_of s q all)) 0)
                             (elements_of q all (dropped (lateness s))))))).
  assert (A : forall q' es, map (fun x => f (fst x)) (outputs answer s q' es [] [] (map (fun _ => []) (windows q))
                                            (reports s q all)) = map f (reports s q all)).
  { intros q' es; rewrite <- (map_map fst f); f_equal; now apply all_are_emitted. }
  transitivity (map f (reports s q all)); [|symmetry]; apply A.
Qed.

(** * Empty answers *)

Definition emit_as (s : Semantics) (q : Query) (all : list Element) : Report * Bag -> Emitted :=
  emitted_of s (arrivals_of s q all) (elements_of q all (dropped (lateness s))).
Lemma evaluate_is answer s q all : evaluate answer s q all = map (emit_as s q all)
  (outputs answer s q (elements_of q all (admitted (lateness s))) [] [] (map (fun _ => []) (windows q)) (reports s q all)).
Proof. reflexivity. Qed.
Lemma filter_of_map {A B} (f : B -> bool) (g : A -> B) (h : A -> bool) xs :
  (forall x, f (g x) = h x) -> filter f (map g xs) = map g (filter h xs).
Proof.
  intros E; induction xs as [|x xs IH]; cbn; [reflexivity|].
  rewrite E, IH; now destruct (h x).
Qed.

(** What [Once] keeps of what is emitted: also an empty output that directly follows one that is not. *)
Fixpoint first_of_empties (last : Bag) (es : list Emitted) : list Emitted :=
  match es with
  | [] => []
  | e :: rest => let others := first_of_empties (rows e) rest in
                 if negb (is_empty (rows e)) || negb (is_empty last) then e :: others else others
  end.
Section EmptyAnswers.
  Variables (answer : list Quad -> Bag) (s s' : Semantics) (q : Query) (all : list Element).
  Hypothesis fields : differ_only_in [Empty_] s s'.
  Hypothesis emitted : empty s = Emit.
  Let answers cs es : answer_over answer s' q es cs = answer_over answer s q es cs.
  Proof. clear emitted; equate fields; reflexivity. Qed.
  Lemma suppressed es base_ last kept rs :
    empty s' = Suppress ->
    outputs answer s' q es base_ last kept rs =
    filter (fun p => negb (is_empty (snd p))) (outputs answer s q es base_ last kept rs).
  Proof.
    intros E; assert (O : op s' q = op s q /\ base s' = base s) by (clear - fields; equate fields; now split).
    revert base_ last kept; induction rs as [|r rs IH]; intros; cbn [outputs filter]; [reflexivity|].
    cbv zeta; rewrite E, emitted, (proj1 O), (proj2 O); cbn [emits filter snd]; rewrite !answers, IH.
    match goal with |- context [is_empty ?b] => now destruct (is_empty b) end.
  Qed.
  Lemma evaluate_alike : evaluate answer s' q all = map (emit_as s q all)
    (outputs answer s' q (elements_of q all (admitted (lateness s))) [] [] (map (fun _ => []) (windows q)) (reports s q all)).
  Proof.
    unfold evaluate; rewrite <- (outputs_change_no_report s s') by fewer fields.
    rewrite (same_arrivals s s') by (try (fewer fields); clear - fields; now equate fields).
    assert (E : lateness s' = lateness s /\ instant s' = instant s /\ closure s' = closure s)
      by (clear - fields; equate fields; repeat split).
    destruct E as (E & E1 & E2); rewrite E; unfold emit_as, emitted_of, stamp, border; now rewrite E1, E2.
  Qed.
  (** "What becomes of empty answers never changes the others: `suppress` gives the reports of `emit` whose
      relation is not empty ..." *)
  Theorem suppress_is_emit_without_empty :
    empty s' = Suppress ->
    evaluate answer s' q all = filter (fun e => negb (is_empty (rows e))) (evaluate answer s q all).
  Proof.
    intros E; rewrite evaluate_alike, suppressed, evaluate_is by assumption.
    symmetry; now apply filter_of_map.
  Qed.
  (** "... and `once` gives these and, of the empty ones, each that directly follows one that is not empty in
      `emit`. For every query and semantics." *)
  Theorem once_is_emit_without_repeated_empties :
    empty s' = Once -> evaluate answer s' q all = first_of_empties [] (evaluate answer s q all).
  Proof.
    intros E; rewrite evaluate_alike, evaluate_is; set (es := elements_of q all (admitted (lateness s))).
    assert (O : op s' q = op s q /\ base s' = base s) by (clear - fields; equate fields; now split).
    enough (G : forall rs b last kept, map (emit_as s q all) (outputs answer s' q es b last kept rs) =
                first_of_empties last (map (emit_as s q all) (outputs answer s q es b last kept rs))) by apply G.
    induction rs as [|r rs IH]; intros; cbn [outputs map]; [reflexivity|].
    cbv zeta; rewrite E, emitted, (proj1 O), (proj2 O), !answers; cbn [emits map first_of_empties].
    cbv zeta; cbn [rows emit_as emitted_of snd]; rewrite <- IH.
    match goal with |- context [if ?c then _ else _] => now destruct c end.
  Qed.
  (** "The values of `empty`, where no output is empty." *)
  Theorem nothing_empty_to_suppress :
    Forall (fun e => rows e <> []) (evaluate answer s q all) -> evaluate answer s' q all = evaluate answer s q all.
  Proof.
    intros F; destruct (empty s') eqn:E.
    - rewrite evaluate_alike, evaluate_is; f_equal; set (es := elements_of q all (admitted (lateness s))).
      assert (O : op s' q = op s q /\ base s' = base s) by (clear - fields; equate fields; now split).
      enough (G : forall rs b last kept, outputs answer s' q es b last kept rs = outputs answer s q es b last kept rs)
        by apply G.
      induction rs as [|r rs IH]; intros; cbn [outputs]; [reflexivity|].
      cbv zeta; now rewrite E, emitted, (proj1 O), (proj2 O), !answers, IH.
    - rewrite suppress_is_emit_without_empty by assumption.
      clear - F; induction F as [|e es H F IH]; cbn; [reflexivity|]; rewrite IH; now destruct (rows e).
    - rewrite once_is_emit_without_repeated_empties by assumption; generalize (@nil Row).
      clear - F; induction F as [|e es H F IH]; intros last; cbn; [reflexivity|]; rewrite IH; now destruct (rows e).
  Qed.
End EmptyAnswers.

(** "Istream and Dstream together reconstruct Rstream: with B empty at first, the answer of each evaluation is,
    by value (CMP-1), the bag B − D + I, where I and D are its outputs under Istream and Dstream; for the base
    `previous` B is then that answer, for `previous-new` only where I is not empty. For a query that states no
    operator, empty answers emitted, and answers in which numbers that are near (CMP-2) are equal." *)
Theorem istream_and_dstream answer s si sd q all :
  differ_only_in [R2S_; Base_] s si -> differ_only_in [R2S_] si sd -> operator q = None -> empty s = Emit ->
  r2s s = Rstream -> r2s si = Istream -> r2s sd = Dstream ->
  Forall2 same_bag
    (rebuilt (base si) [] (combine (map rows (evaluate answer si q all)) (map rows (evaluate answer sd q all))))
    (map rows (evaluate answer s q all)).
Proof.
  intros D D' O E R I Ds.
  assert (Ri : reports si q all = reports s q all) by (symmetry; apply outputs_change_no_report; fewer D).
  assert (Rd : reports sd q all = reports s q all)
    by (rewrite <- Ri; symmetry; apply outputs_change_no_report; fewer D').
  set (es := elements_of q all (admitted (lateness s))).
  assert (Ai : forall cs, answer_over answer si q es cs = answer_over answer s q es cs)
    by (clear - D; clearbody es; equate D; reflexivity).
  assert (Ad : forall cs, answer_over answer sd q es cs = answer_over answer s q es cs)
    by (intros; rewrite <- Ai; clear - D'; clearbody es; equate D'; reflexivity).
  assert (Li : lateness si = lateness s) by (clear - D; equate D; reflexivity).
  assert (Ld : lateness sd = lateness s) by (rewrite <- Li; clear - D'; equate D'; reflexivity).
  assert (Bd : base sd = base si) by (clear - D'; equate D'; reflexivity).
  assert (Ei : empty si = Emit) by (rewrite <- E; clear - D; equate D; reflexivity).
  assert (Ed : empty sd = Emit) by (rewrite <- Ei; clear - D'; equate D'; reflexivity).
  assert (Oi : op si q = Istream) by (unfold op; now rewrite O).
  assert (Od : op sd q = Dstream) by (unfold op; now rewrite O).
  assert (Os : op s q = Rstream) by (unfold op; now rewrite O).
  unfold evaluate, emitted_of; cbv zeta; rewrite !map_map; cbn [rows].
  rewrite Ri, Rd, Li, Ld; fold es.
  rewrite (outputs_are_both_streams answer si), (outputs_are_both_streams answer sd) by auto.
  rewrite Oi, Od, Bd.
  rewrite (map_ext _ _ (fun r => Ai (holding r))), (map_ext _ _ (fun r => Ad (holding r))).
  assert (Rs : map (fun x => snd x) (outputs answer s q es [] [] (map (fun _ => []) (windows q)) (reports s q all)) =
               map (fun r => answer_over answer s q es (holding r)) (reports s q all)).
  { enough (G : forall rs b last kept, map (fun x => snd x) (outputs answer s q es b last kept rs) =
                  map (fun r => answer_over answer s q es (holding r)) rs) by apply G.
    induction rs as [|r rs IH]; intros; cbn [outputs map]; [reflexivity|].
    cbv zeta; rewrite E, Os; cbn [emits relate map snd]; now rewrite IH. }
  rewrite Rs; set (answers := map _ (reports s q all)).
  assert (C : forall b, combine (map fst (both_streams (base si) b answers)) (map snd (both_streams (base si) b answers)) =
                        both_streams (base si) b answers).
  { intros b; clearbody answers; clear; generalize (both_streams (base si) b answers).
    induction l as [|[i d] l IH]; cbn; [reflexivity|now rewrite IH]. }
  rewrite C; apply istream_and_dstream_reconstruct.
Qed.

(** "`bag` and `set`, for rows that never recur."  A row is then once in an answer. *)
Theorem bag_is_set answer s s' q all :
  differ_only_in [Collection_] s s' -> collection s = AsBag -> collection s' = AsSet ->
  (forall cs, NoDup (answer_over answer s q (elements_of q all (admitted (lateness s))) cs)) ->
  evaluate answer s q all = evaluate answer s' q all.
Proof.
  intros D C C' N; unfold evaluate; rewrite <- (outputs_change_no_report s s') by fewer D.
  rewrite (same_arrivals s s') by (try (fewer D); clear - D; now equate D).
  assert (E : lateness s' = lateness s /\ instant s' = instant s /\ closure s' = closure s /\ op s' q = op s q /\
              base s' = base s /\ empty s' = empty s)
    by (clear - D; equate D; repeat split).
  destruct E as (E & E1 & E2 & E3 & E4 & E5); rewrite E; unfold emitted_of, stamp, border; rewrite E1, E2; f_equal.
  set (es := elements_of q all (admitted (lateness s))) in *.
  assert (A : forall cs, answer_over answer s' q es cs = answer_over answer s q es cs).
  { intros cs; specialize (N cs); unfold answer_over in *; rewrite C, C' in *; cbn [collect] in *.
    replace (consumption s') with (consumption s) by (clear - D; now equate D).
    replace (rows_of_matches s' q es cs) with (rows_of_matches s q es cs) by (clear - D; clearbody es; equate D; reflexivity).
    destruct (consumption s); now apply nodup_fixed_point. }
  enough (G : forall rs b last kept, outputs answer s q es b last kept rs = outputs answer s' q es b last kept rs)
    by apply G.
  induction rs as [|r rs IH]; intros; cbn [outputs]; [reflexivity|].
  cbv zeta; now rewrite E3, E4, E5, !A, IH.
Qed.
