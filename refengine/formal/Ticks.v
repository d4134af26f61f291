(** "What no stream can tell apart" (docs/laws.md), of one window under window close: the three ticks.  What is
    reported is then said without arrivals. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows Alike Equivalences Choices OneWindow Single.
Import ListNotations.
Open Scope Z_scope.

Lemma map_id_of {A} (f : A -> A) xs : (forall x, f x = x) -> map f xs = xs.
Proof. intros H; induction xs as [|x xs IH]; cbn; [reflexivity|now rewrite H, IH]. Qed.

(** * What is reported under window close *)

(** The elements of some arrivals. *)
Definition elements_in (arrivals : list Arrival) : list Element :=
  flat_map (fun a => match element a with Some e => [e] | None => [] end) arrivals.
Section Closings.
  Variables (M : Machine) (start : Z).
  Variable good : Z -> Content -> Content -> bool. (* t, the content at t, what was last reported *)
  (** Close holds only before the arrival's own instant (REP-1). *)
  Hypothesis closes_before : forall own t b last prev,
    meets_all M own t b (compares M last prev) = (t <? own) && good t (holds M t b) last.
  Hypothesis all_of_a_gap : gap M = All.
  Hypothesis all_instants : forall since now, filter (fun t => t <? now) (instants M since now) = upto (Z.max start since) now.
  (** What arrives from now on is not in a content before its own instant. *)
  Hypothesis complete : forall own b rest t,
    (forall e, In e rest -> own <= app e) -> t < own -> holds M t b = holds M t (b ++ rest).
  Hypothesis own_at : forall a, owns M a <= at_ a.
  Hypothesis own_mono : forall a b, at_ a <= at_ b -> owns M a <= owns M b.

  (** The windows that are reported, without arrivals: at each instant, over all elements. *)
  Fixpoint closings (all : list Element) (ts : list Z) (last : Content) : list (Z * Content) * Content :=
    match ts with
    | [] => ([], last)
    | t :: rest =>
        let c := holds M t all in
        let ok := good t c last in
        let (cs, last') := closings all rest (if ok then c else last) in
        (if ok then (t, c) :: cs else cs, last')
    end.
  Lemma closings_app all ts us last :
    closings all (ts ++ us) last =
    let (cs, last') := closings all ts last in
    let (ds, last'') := closings all us last' in (cs ++ ds, last'').
  Proof.
    revert last; induction ts as [|t ts IH]; intros last; cbn [closings List.app].
    - now destruct (closings all us last).
    - rewrite IH; destruct (closings all ts _) as [cs last'], (closings all us last').
      now destruct (good _ _ _).
  Qed.
  Lemma look_is_closings before all o ts last prev :
    (forall t, t < o -> holds M t before = holds M t all) ->
    let (rs, m) := look M before o ts last prev in
    closings all (filter (fun t => t <? o) ts) last = (rs, fst m).
  Proof.
    intros E; revert last prev; induction ts as [|t ts IH]; intros last prev; cbn [look filter]; [reflexivity|].
    rewrite closes_before, all_of_a_gap; destruct (t <? o) eqn:T; cbn [andb].
    - apply Z.ltb_lt, E in T; cbn [closings]; rewrite <- T.
      set (ok := good _ _ _); specialize (IH (if ok then holds M t before else last) (holds M t before)).
      destruct (look M before o ts _ _) as [rs m]; rewrite IH; now destruct ok.
    - specialize (IH last (holds M t before)); now destruct (look M before o ts _ _).
  Qed.
  Fixpoint arrive_in_order (arrivals : list Arrival) : Prop :=
    match arrivals with
    | [] => True
    | a :: rest => (forall b, In b rest -> at_ a <= at_ b) /\ (forall e, element a = Some e -> app e = at_ a) /\
                   arrive_in_order rest
    end.
  Lemma in_elements e arrivals : In e (elements_in arrivals) -> exists a, In a arrivals /\ element a = Some e.
  Proof.
    unfold elements_in; rewrite in_flat_map; intros (a & Ha & He); exists a; split; [assumption|].
    destruct (element a); [destruct He as [->|[]]; reflexivity|easy].
  Qed.
  Lemma app_is_at arrivals a e : arrive_in_order arrivals -> In a arrivals -> element a = Some e -> app e = at_ a.
  Proof. induction arrivals as [|b rest IH]; [easy|]; intros (_ & B & O) [->|Ha] E; auto. Qed.
  Lemma with_elements b a rest : with_element b a ++ elements_in rest = b ++ elements_in (a :: rest).
  Proof.
    unfold with_element, elements_in; cbn [flat_map]; destruct (element a); cbn; [now rewrite <- app_assoc|reflexivity].
  Qed.
  Theorem go_is_closings rest h before l last prev k :
    arrive_in_order (rest ++ [h]) ->
    (forall a, In a rest -> at_ a < at_ h /\ a_batch a < a_batch h) ->
    (forall a, In a rest -> looks M (next M a) h = true) ->
    (looks M l h = true \/ owns M h <= start) ->
    (forall a, In a (rest ++ [h]) -> Z.max start (looked_own l) <= Z.max start (owns M a)) ->
    map (fun x => (fst (fst x), snd x)) (go M before l last prev k (rest ++ [h])) =
    fst (closings (before ++ elements_in (rest ++ [h])) (upto (Z.max start (looked_own l)) (owns M h)) last).
  Proof.
    assert (Arrive : forall before rest l last prev a,
      arrive_in_order (a :: rest) ->
      let (rs, m) := arrive M before (owns M a) (instants M (looked_own l) (owns M a)) last prev in
      closings (before ++ elements_in (a :: rest)) (upto (Z.max start (looked_own l)) (owns M a)) last = (rs, fst m)).
    { clear rest h before l last prev k; intros before rest l last prev a O; unfold arrive; rewrite all_of_a_gap.
      rewrite <- all_instants.
      pose proof (look_is_closings before (before ++ elements_in (a :: rest)) (owns M a)
                    (instants M (looked_own l) (owns M a)) last prev) as V.
      destruct (look _ _ _ _ _ _); apply V.
      intros t T; apply complete with (own := owns M a); [|assumption].
      intros e He; apply in_elements in He as (b & Hb & E); rewrite (app_is_at _ _ _ O Hb E).
      destruct O as [A _]; pose proof (own_at a); destruct Hb as [->|Hb]; [lia|specialize (A b Hb); lia]. }
    revert before l last prev k; induction rest as [|a rest IH]; intros before l last prev k O H N D B.
    - cbn [List.app go]; destruct (looks M l h) eqn:Due.
      + specialize (Arrive before [] l last prev h O).
        destruct (arrive _ _ _ _ _ _) as [rs m]; rewrite app_nil_r, map_map, Arrive; cbn.
        apply map_id_of; now intros [].
      + destruct D as [D|D]; [discriminate|]; cbn [go map]; rewrite upto_nil by lia; reflexivity.
    - pose proof O as Oa; destruct O as (A & Ap & O).
      assert (Split : Z.max start (owns M a) <= Z.max start (owns M h)).
      { pose proof (own_mono a h); specialize (A h); rewrite in_app_iff in A; cbn in A; intuition lia. }
      cbn [List.app go]; destruct (looks M l a) eqn:Due.
      + specialize (Arrive before (rest ++ [h]) l last prev a Oa).
        destruct (arrive _ _ _ _ _ _) as [rs m].
        rewrite map_app, map_map, IH; cbn [looked_own next]; rewrite ?with_elements.
        * assert (E : upto (Z.max start (looked_own l)) (owns M h) =
                      upto (Z.max start (looked_own l)) (owns M a) ++ upto (Z.max start (owns M a)) (owns M h)).
          { specialize (B a (or_introl eq_refl)).
            destruct (Z_le_gt_dec (owns M a) start).
            - rewrite (upto_nil _ (owns M a)) by lia; cbn; f_equal; lia.
            - rewrite (Z.max_r start (owns M a)) by lia; rewrite upto_app; [reflexivity|lia]. }
          rewrite E, closings_app, Arrive; cbn.
          destruct (closings _ (upto _ (owns M h)) _); cbn; f_equal; apply map_id_of; now intros [].
        * assumption.
        * intros b Hb; apply H; now right.
        * intros b Hb; apply N; now right.
        * left; apply N; now left.
        * intros b Hb; specialize (A b Hb); pose proof (own_mono a b A); lia.
      + rewrite IH, with_elements; try assumption.
        * reflexivity.
        * intros b Hb; apply H; now right.
        * intros b Hb; apply N; now right.
        * intros b Hb; apply B; now right.
  Qed.
End Closings.

(** * Of one window of the kind [time] or [range] *)

Section OfOneWindow.
  Variables (s : Semantics) (q : Query) (all : list Element) (w : Window) (o h : Z).
  Let p := place s q all w.
  Let start := s0_at s p o.
  Let es := arriving s q all.
  Let M := machine s p start.
  Hypothesis one : windows q = [w].
  Hypothesis right_kind : kind w = Time \/ kind w = Range.
  Hypothesis placed : origin p = Some o.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis sizes : 0 < size w /\ 0 < slide s w /\ 0 <= lag w.
  Hypothesis the_horizon : horizon_of s (windows q) es = Some h.
  Hypothesis later_horizon : forall e, In e es -> app e < h.
  Let sentinel := {| at_ := h; a_sys := maximum (map sys all) 0 + 1; a_batch := maximum (map batch es) 0 + 1; element := None |}.

  Lemma arrivals_and_sentinel : arrivals_of s q all = map arrival_of es ++ [sentinel].
  Proof. rewrite arrivals_are; fold es; now rewrite the_horizon. Qed.
  Lemma elements_of_arrivals : elements_in (map arrival_of es ++ [sentinel]) = es.
  Proof.
    unfold elements_in; rewrite flat_map_app; cbn; rewrite app_nil_r.
    generalize es; intros xs; induction xs as [|x xs IH]; cbn; [reflexivity|now rewrite IH].
  Qed.
  Lemma they_arrive_in_order : arrive_in_order (map arrival_of es ++ [sentinel]).
  Proof.
    assert (O : in_order es) by apply arriving_in_order.
    assert (L : forall e, In e es -> app e <= at_ sentinel) by (intros e He; apply later_horizon in He; cbn; lia).
    assert (N : forall e, element sentinel = Some e -> app e = at_ sentinel) by discriminate.
    revert O L N; generalize sentinel as x; generalize es as xs; intros xs x.
    induction xs as [|y xs IH]; intros O L N; cbn; [repeat split; easy|]; destruct O as [Oy O]; repeat split.
    - intros b Hb; apply in_app_iff in Hb as [Hb|[<-|[]]]; [|apply L; now left].
      apply in_map_iff in Hb as (e & <- & He); now apply Oy.
    - now intros e [= <-].
    - apply IH; auto; intros e He; apply L; now right.
  Qed.
  Definition good (t : Z) (c last : Content) : bool :=
    closes_at s p t && has_scope s p t && match periodic s with None => true | Some _ => is_periodic s p t end &&
    (negb (content_change s) || differs s c last) && (negb (non_empty s) || negb (match c with [] => true | _ => false end)).
  Hypothesis closing : window_close s = true.
  Hypothesis last_report : content_change s = true -> baseline s = LastReport.
  Hypothesis all_in_a_gap : missed s = All.
  Lemma close_is_before own t b last prev :
    meets_all M own t b (compares M last prev) = (t <? own) && good t (holds M t b) last.
  Proof.
    cbn; unfold timely, worthy, good; rewrite closing; cbn.
    assert (C : negb (content_change s) || differs s (content s p t b) match baseline s with LastReport => last | PreviousInstant => prev end =
                negb (content_change s) || differs s (content s p t b) last)
      by (destruct (content_change s); [now rewrite last_report|reflexivity]).
    rewrite C; destruct (closes_at s p t), (t <? own), (has_scope s p t), (periodic s), (is_periodic s p t); cbn; trivial;
      now rewrite ?andb_false_r.
  Qed.
  Lemma contents_are_complete own b rest t :
    (forall e, In e rest -> own <= app e) -> t < own -> holds M t b = holds M t (b ++ rest).
  Proof.
    intros R T; cbn; unfold content; rewrite placed; destruct (current s p t) as [n|] eqn:C; [|reflexivity].
    assert (Fi : filter (meets s p o n t) (filter (fun e => stream e =? on (win p)) rest) = []).
    { apply filter_none; intros e He; apply filter_In in He as [He _]; specialize (R e He); unfold meets.
      unfold begins; unfold current in C; rewrite placed in C.
      destruct sizes as (_ & Sl & Lg); change (win p) with w in *.
      destruct right_kind as [K|K].
      - rewrite K; apply andb_false_iff; left; apply andb_false_iff; left; lia.
      - apply (range_shows_the_latest s p o t n) in C as [C _]; [|exact K|exact Sl]; rewrite K.
        apply andb_false_iff; left; lia. }
    rewrite !filter_app, Fi, app_nil_r; change (win p) with w; now destruct right_kind as [-> | ->].
  Qed.
  Lemma own_is_at a : owns M a <= at_ a.
  Proof. pose proof (own_le_at s [p] a) as H; cbn in H; change (win p) with w in H; cbn; destruct right_kind as [K|K]; rewrite K in *; now apply H. Qed.
  Lemma own_grows a b : at_ a <= at_ b -> owns M a <= owns M b.
  Proof.
    intros H; cbn; unfold own; change (win p) with w; destruct right_kind as [-> | ->]; destruct (close_rule s), (closure s), (element a), (element b); lia.
  Qed.
  Lemma batches_before a : In a (map arrival_of es) -> at_ a < h /\ a_batch a < a_batch sentinel.
  Proof.
    intros Ha; apply in_map_iff in Ha as (e & <- & He); cbn; split; [now apply later_horizon|].
    enough (batch e <= maximum (map batch es) 0) by lia; apply maximum_ge; right; apply in_map, He.
  Qed.
  (** What is reported up to the sentinel, under each tick. *)
  Theorem reports_are_closings :
    map (fun r => (at_instant r, holding r)) (reports s q all) =
    map (fun x => (fst x, [snd x])) (fst (closings M good es (upto start (owns M sentinel)) [])).
  Proof.
    assert (K : kind w <> Tuple) by (destruct right_kind; congruence).
    pose proof (one_window s q all w o one K can_trigger placed) as R; cbv zeta in R; fold p start M in R.
    rewrite arrivals_and_sentinel in R.
    pose proof (go_is_closings M start good close_is_before) as G.
    transitivity (map (fun x : Z * Z * list Content => (fst (fst x), snd x)) (map seen (reports s q all)));
      [rewrite map_map; reflexivity|].
    rewrite R, map_map.
    transitivity (map (fun x => (fst x, [snd x])) (map (fun x : Z * Z * Content => (fst (fst x), snd x))
      (go M [] (none_looked start) [] [] 0 (map arrival_of es ++ [sentinel])))); [rewrite map_map; reflexivity|].
    f_equal; rewrite G; clear G R.
    - cbn [looked_own none_looked List.app]; now rewrite elements_of_arrivals, Z.max_id.
    - exact all_in_a_gap.
    - intros; apply interval_before.
    - exact contents_are_complete.
    - exact own_is_at.
    - exact own_grows.
    - exact they_arrive_in_order.
    - exact batches_before.
    - intros a Ha; apply batches_before in Ha as [A B]; cbn [looks M machine]; unfold is_due; destruct (tick s); [reflexivity| |]; now apply Z.ltb_lt.
    - pose proof (own_is_at sentinel) as Os; pose proof (maximum_ge (map batch es) 0 0 (or_introl eq_refl)).
      cbn [looks M machine]; unfold is_due; destruct (tick s); cbn [looked_app looked_batch none_looked at_ a_batch sentinel] in *;
        [now left| |left; lia].
      destruct (Z_lt_le_dec start h); [left; now apply Z.ltb_lt|right; lia].
    - cbn; intros; lia.
  Qed.
End OfOneWindow.

Lemma closings_alike M M' good good' all ts last :
  (forall t b, holds M t b = holds M' t b) -> (forall t c l, good t c l = good' t c l) ->
  closings M good all ts last = closings M' good' all ts last.
Proof.
  intros H G; revert last; induction ts as [|t ts IH]; intros last; cbn [closings]; [reflexivity|].
  now rewrite H, G, IH.
Qed.
(** "Under a report with window close, without `arrival`, with content change, if any, against the last report, and
    with all windows of a gap: the three ticks." *)
Theorem three_ticks s s' q all w o h :
  differ_only_in [Tick_] s s' -> window_close s = true -> (content_change s = true -> baseline s = LastReport) ->
  missed s = All ->
  windows q = [w] -> kind w = Time \/ kind w = Range -> 0 < size w /\ 0 < slide s w /\ 0 <= lag w ->
  (trigger s = Explicit -> triggers w = true) -> origin (place s q all w) = Some o ->
  horizon_of s (windows q) (arriving s q all) = Some h -> (forall e, In e (arriving s q all) -> app e < h) ->
  map (fun r => (at_instant r, holding r)) (reports s q all) = map (fun r => (at_instant r, holding r)) (reports s' q all).
Proof.
  intros D C B G W K Z T O H L.
  assert (E : closure s' = closure s /\ slide_choice s' = slide_choice s /\ lateness s' = lateness s /\ horizon s' = horizon s /\
              periodic s' = periodic s /\ close_rule s' = close_rule s /\ partial s' = partial s /\ trigger s' = trigger s /\
              window_close s' = window_close s /\ content_change s' = content_change s /\ baseline s' = baseline s /\
              missed s' = missed s /\ non_empty s' = non_empty s /\ change_scope s' = change_scope s)
    by (clear - D; equate D; repeat split).
  destruct E as (E0 & E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8 & E9 & E10 & E11 & E12 & E13).
  assert (Es : arriving s' q all = arriving s q all) by (unfold arriving; now rewrite E2).
  assert (Pl : place s' q all w = place s q all w) by (apply same_place; fewer D).
  assert (Sl : slide s' w = slide s w) by (unfold slide; now rewrite E1).
  rewrite (reports_are_closings s q all w o h), (reports_are_closings s' q all w o h);
    rewrite ?Es, ?Pl, ?Sl, ?E7, ?E8, ?E9, ?E10, ?E11; auto.
  2: { rewrite <- H; unfold horizon_of, reach, slide; now rewrite E1, E3. }
  f_equal; f_equal.
  pose proof (machines_have_same_parts s s' (place s q all w) (s0_at s (place s q all w) o) ltac:(fewer D)) as [Sh _ So].
  assert (St : s0_at s' (place s q all w) o = s0_at s (place s q all w) o)
    by (unfold s0_at, first_instant, low, slide; now rewrite E0, E1).
  rewrite St; cbn [owns machine]; rewrite <- (same_owns s s' ltac:(fewer D)).
  apply closings_alike; [intros; apply Sh|].
  intros t c l; unfold good; rewrite Pl, E4, E9, E12.
  rewrite <- (same_scope s s' (place s q all w) (place s q all w) t (window_is_itself s s' ltac:(fewer D) _)).
  unfold is_periodic, border, closes_at, last_instant, least, cut, slide, high, differs; now rewrite E0, E1, E4, E6, E13.
Qed.
