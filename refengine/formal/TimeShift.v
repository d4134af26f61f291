(** The law "Time shift" of docs/laws.md: every kind of window but tuple-based, several windows and streams,
    every field of the semantics. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions.
Import ListNotations.
Open Scope Z_scope.

Section TimeShift.
  Variable d : Z.

  (** "If every instant moves by d (the app and end of all elements, and, where they are given as
      integers, t0, offset, anchor, horizon and the instant of registration) ..." *)
  Definition later (e : Element) : Element :=
    {| stream := stream e; app := app e + d; until := until e + d; sys := sys e; batch := batch e;
       graph := graph e |}.
  Definition later_semantics (s : Semantics) : Semantics :=
    {| t0 := match t0 s with At t => At (t + d) | Epoch o => Epoch (o + d) | x => x end;
       closure := closure s; slide_choice := slide_choice s; partial := partial s;
       window_close := window_close s; content_change := content_change s; non_empty := non_empty s;
       periodic := option_map (fun x => (fst x, match snd x with AnchorAt t => AnchorAt (t + d) | a => a end))
                     (periodic s);
       close_rule := close_rule s; baseline := baseline s; change_scope := change_scope s;
       expiry_seen := expiry_seen s; missed := missed s; tick := tick s; trigger := trigger s;
       collection := collection s; consumption := consumption s; r2s := r2s s; base := base s; empty := empty s;
       horizon := match horizon s with HorizonAt t => HorizonAt (t + d) | h => h end;
       instant := instant s; lateness := lateness s |}.
  Definition later_query (q : Query) : Query :=
    {| windows := windows q; registered := option_map (fun t => t + d) (registered q);
       operator := operator q; static := static q; patterns := patterns q; selected := selected q |}.
  (** "... the instants of all reports, their windows' borders and their elements' instants move by d,
      and nothing else changes: ..." *)
  Definition later_borders (b : option (Z * Z)) := option_map (fun x => (fst x + d, snd x + d)) b.
  Definition later_report (r : Report) : Report :=
    {| at_instant := at_instant r + d; arrival := arrival r; shown := map later_borders (shown r);
       holding := map (map later) (holding r) |}.
  Definition later_emitted (e : Emitted) : Emitted :=
    {| report := later_report (report e); triggered_by := triggered_by e + d; stamped := stamped e + d;
       late := late e; rows := rows e |}.

  Variables (s : Semantics) (q : Query).
  Let s' := later_semantics s.
  Let q' := later_query q.

  (** "... for windows that are not tuple-based, a body that does not ask for times (R2R-21), and t0 an integer, a policy or `stream`, or `coral8` or
      `oracle-cep` if d is a multiple of every window's β (1 where a slide is ignored)." *)
  Hypothesis no_tuple : forall w, In w (windows q) -> kind w <> Tuple.
  Hypothesis valid : forall w, In w (windows q) -> 0 < slide s w.
  Hypothesis t0_moves : match t0 s with
    | Flink | Storm | KafkaStreams => False
    | Coral8 | OracleCep => forall w, In w (windows q) -> (slide s w | d)
    | _ => True end.
  Let good (p : Placed) : Prop := kind (win p) <> Tuple.

  (** Lists *)
  Lemma filter_map {A B} (f : B -> bool) (g : A -> B) (h : A -> bool) xs :
    (forall x, f (g x) = h x) -> filter f (map g xs) = map g (filter h xs).
  Proof.
    intros E; induction xs as [|x xs IH]; cbn; [reflexivity|].
    rewrite E, IH; now destruct (h x).
  Qed.
  Lemma existsb_map {A B} (f : B -> bool) (g : A -> B) (h : A -> bool) xs :
    (forall x, In x xs -> f (g x) = h x) -> existsb f (map g xs) = existsb h xs.
  Proof.
    intros E; induction xs as [|x xs IH]; cbn; [reflexivity|].
    rewrite E by (now left); f_equal; apply IH; intros; apply E; now right.
  Qed.
  Lemma flat_map_map {A B C} (f : B -> list C) (g : A -> B) xs :
    flat_map f (map g xs) = flat_map (fun x => f (g x)) xs.
  Proof. induction xs; cbn; congruence. Qed.
  Lemma map_later {A} (f : Element -> A) es : (forall e, f (later e) = f e) -> map f (map later es) = map f es.
  Proof. intros E; rewrite map_map; now apply map_ext. Qed.

  Lemma later_sort f g es :
    (forall a b, f (later a) (later b) = g a b) -> sort f (map later es) = map later (sort g es).
  Proof.
    intros E; induction es as [|e es IH]; cbn; [reflexivity|].
    rewrite IH; clear IH; generalize (sort g es); intros l.
    induction l as [|x xs IH]; cbn; [reflexivity|].
    rewrite E; destruct (g e x); cbn; [now rewrite IH|reflexivity].
  Qed.

  (** MOD-2 *)
  Lemma later_is_late l e earlier : is_late l (later e) (map later earlier) = is_late l e earlier.
  Proof.
    destruct l as [b|]; cbn; [|reflexivity].
    apply existsb_map; intros x _; apply eq_true_iff_eq; rewrite !Z.ltb_lt; cbn; lia.
  Qed.
  Lemma later_split l earlier es :
    split_late l (map later earlier) (map later es) =
    (map later (fst (split_late l earlier es)), map later (snd (split_late l earlier es))).
  Proof.
    revert earlier; induction es as [|e es IH]; intros earlier; cbn; [reflexivity|].
    assert (B : map later earlier ++ [later e] = map later (earlier ++ [e])) by now rewrite map_app.
    rewrite B, IH, later_is_late; destruct (split_late l (earlier ++ [e]) es); cbn.
    now destruct (is_late l e earlier).
  Qed.
  Lemma later_admitted l es : admitted l (map later es) = map later (admitted l es).
  Proof.
    unfold admitted; change (@nil Element) with (map later []) at 1; rewrite later_split; cbn.
    apply later_sort; intros; cbn; apply eq_true_iff_eq; rewrite !Z.ltb_lt; lia.
  Qed.
  Lemma later_dropped l es : dropped l (map later es) = map later (dropped l es).
  Proof. unfold dropped; change (@nil Element) with (map later []) at 1; now rewrite later_split. Qed.

  (** §4 *)
  Definition plus (x : option Z) : option Z := option_map (fun t => t + d) x.
  Definition later_placed (p : Placed) : Placed :=
    {| win := win p; origin := plus (origin p); ids := ids p; t1 := plus (t1 p) |}.
  Lemma later_ids w n es : ids_from w n (map later es) = ids_from w n es.
  Proof. revert n; induction es as [|e es IH]; intros n; cbn; [reflexivity|]. f_equal; apply IH. Qed.
  Lemma ceil_plus a b x : 0 < b -> (b | x) -> ceil_div (a + x) b * b = ceil_div a b * b + x.
  Proof.
    intros Hb [k ->]; unfold ceil_div.
    replace (- (a + k * b)) with (- a + - k * b) by lia; rewrite Z.div_add by lia; lia.
  Qed.
  Lemma later_origin w t :
    In w (windows q) ->
    origin_of s' (plus (registered q)) w (plus t) = plus (origin_of s (registered q) w t).
  Proof.
    intros Hw; pose proof (no_tuple w Hw); pose proof (valid w Hw).
    unfold origin_of, s'; cbn; change (slide (later_semantics s) w) with (slide s w).
    change (high (later_semantics s) w) with (high s w).
    destruct (t0 s); cbn; try reflexivity; try contradiction.
    - destruct t; cbn; f_equal; lia.
    - destruct t as [t|]; cbn; [|reflexivity]; f_equal; destruct (span w =? 0); [lia|].
      replace (t + d - (offset + d + span w + high s w)) with (t - (offset + span w + high s w)) by lia; lia.
    - destruct (kind w); try congruence; (destruct t as [t|]; cbn; [|reflexivity]; f_equal;
      replace (t + d - span w) with (t - span w + d) by lia; rewrite ceil_plus by auto; lia).
    - destruct (kind w); try congruence; (destruct t as [t|]; cbn; [|reflexivity]; f_equal;
      rewrite ceil_plus by auto; lia).
    - destruct (kind w); try congruence; (destruct t as [t|]; cbn; [|reflexivity]; f_equal; lia).
  Qed.
  Lemma later_place all w :
    In w (windows q) -> place s' q' (map later all) w = later_placed (place s q all w).
  Proof.
    intros Hw; unfold place, later_placed; cbn [win origin ids t1].
    rewrite (filter_map _ later (fun e => stream e =? on w)) by reflexivity.
    change (lateness s') with (lateness s); rewrite later_admitted, later_ids.
    set (mine := admitted _ _).
    assert (T : match map later mine with
                | [] => None
                | e :: _ => Some match kind w with Tuple => lookup (ids_from w 0 mine) (sys e) | _ => app e end
                end = plus match mine with
                | [] => None
                | e :: _ => Some match kind w with Tuple => lookup (ids_from w 0 mine) (sys e) | _ => app e end
                end).
    { pose proof (no_tuple w Hw); destruct mine; cbn; [reflexivity|]; destruct (kind w); congruence. }
    rewrite T; f_equal; apply later_origin, Hw.
  Qed.

  Lemma later_first p o n : first_instant s' p (o + d) n = first_instant s p o n + d.
  Proof. unfold first_instant; cbn; change (low s' (win p)) with (low s (win p));
         change (slide s' (win p)) with (slide s (win p)); lia. Qed.
  Lemma later_last p o n : last_instant s' p (o + d) n = last_instant s p o n + d.
  Proof. unfold last_instant; cbn; change (high s' (win p)) with (high s (win p));
         change (slide s' (win p)) with (slide s (win p)); lia. Qed.
  Lemma ltb_plus a b : (a + d <? b + d) = (a <? b).
  Proof. apply eq_true_iff_eq; rewrite !Z.ltb_lt; lia. Qed.
  Lemma leb_plus a b : (a + d <=? b + d) = (a <=? b).
  Proof. apply eq_true_iff_eq; rewrite !Z.leb_le; lia. Qed.
  Lemma eqb_plus a b : (a + d =? b + d) = (a =? b).
  Proof. apply eq_true_iff_eq; rewrite !Z.eqb_eq; lia. Qed.

  Lemma later_current p t : current s' (later_placed p) (t + d) = current s p t.
  Proof.
    unfold current; destruct (origin p) as [o|] eqn:O; cbn; rewrite O; cbn; [|reflexivity].
    unfold current_at, s0_at; cbn [win later_placed].
    change (first_instant s' (later_placed p) (o + d) 0) with (first_instant s' p (o + d) 0).
    change (last_instant s' (later_placed p) (o + d) 0) with (last_instant s' p (o + d) 0).
    rewrite later_first, later_last.
    replace (first_instant s p o 0 + d - 1) with (first_instant s p o 0 - 1 + d) by lia.
    replace (t + d - (last_instant s p o 0 + d)) with (t - last_instant s p o 0) by lia.
    now rewrite ltb_plus.
  Qed.
  Lemma later_s0 p : s0 s' (later_placed p) = plus (s0 s p).
  Proof.
    unfold s0; cbn; destruct (origin p); cbn; [|reflexivity]; f_equal.
    unfold s0_at; change (first_instant s' (later_placed p) (z + d) 0) with (first_instant s' p (z + d) 0).
    rewrite later_first; lia.
  Qed.
  Lemma later_borders_at p t : borders s' (later_placed p) (t + d) = later_borders (borders s p t).
  Proof.
    unfold borders; rewrite later_current; cbn [origin later_placed win plus].
    destruct (origin p), (current s p t), (kind (win p)); cbn; try reflexivity;
    change (slide s' (win p)) with (slide s (win p)); do 2 f_equal; lia.
  Qed.
  Lemma later_content p t before :
    good p -> content s' (later_placed p) (t + d) (map later before) = map later (content s p t before).
  Proof.
    intros G; unfold content; rewrite later_current.
    rewrite (filter_map _ later (fun e => stream e =? on (win p))) by reflexivity.
    set (mine := filter _ before); cbn [origin later_placed win plus].
    destruct (origin p) as [o|] eqn:O; cbn; [|reflexivity].
    destruct (current s p t) as [n|]; [|reflexivity].
    assert (M : filter (meets s' (later_placed p) (o + d) n (t + d)) (map later mine) =
                map later (filter (meets s p o n t) mine)).
    { apply filter_map; intros e; unfold meets, clipped_first, begins, ends; cbn [win later_placed partial s' later_semantics].
      change (first_instant s' (later_placed p) (o + d)) with (first_instant s' p (o + d)).
      change (last_instant s' (later_placed p) (o + d)) with (last_instant s' p (o + d)).
      rewrite !later_first, later_last; unfold good in G; cbn [app until later].
      destruct (kind (win p)); try congruence; cbn; apply eq_true_iff_eq;
      rewrite ?andb_true_iff, ?Z.leb_le; destruct (partial s); lia. }
    unfold good in G; destruct (kind (win p)) eqn:K; try congruence; try exact M.
    - unfold latest_rows; cbn [ids later_placed win].
      rewrite (map_later (fun e => lookup (ids p) (sys e))) by reflexivity.
      change (slide s' (win p)) with (slide s (win p)).
      apply filter_map; reflexivity.
    - clear; induction mine as [|e es IH]; cbn; [reflexivity|].
      rewrite (filter_map _ later (same_key (win p) e)), map_length by reflexivity.
      rewrite IH; now destruct (_ <? _).
  Qed.

  (** §5 *)
  Definition later_arrival (a : Arrival) : Arrival :=
    {| at_ := at_ a + d; a_sys := a_sys a; a_batch := a_batch a; element := option_map later (element a) |}.
  Lemma later_own ps a :
    Forall good ps -> own s' (map later_placed ps) (later_arrival a) = own s ps a + d.
  Proof.
    intros G; destruct ps as [|p ps]; cbn; [reflexivity|].
    inversion G as [|? ? K _]; unfold good in K.
    destruct (kind (win p)), (element a); try congruence; cbn;
    destruct (close_rule s), (closure s); lia.
  Qed.
  Lemma later_moves ps t : moves s' (map later_placed ps) (t + d) = moves s ps t.
  Proof.
    apply existsb_map; intros p _; replace (t + d - 1) with (t - 1 + d) by lia.
    now rewrite !later_current.
  Qed.
  Lemma later_interval ps start since now :
    interval s' (map later_placed ps) (start + d) (since + d) (now + d) =
    map (fun t => t + d) (interval s ps start since now).
  Proof.
    unfold interval; cbn; rewrite later_moves, eqb_plus, ltb_plus.
    rewrite <- (filter_map (fun t => start + d <=? t)) by (intros; apply leb_plus).
    f_equal; rewrite map_app; f_equal.
    - unfold upto; rewrite map_map; replace (now + d - (since + d)) with (now - since) by lia.
      apply map_ext; intros; lia.
    - now destruct (_ || _).
  Qed.

  (** §6 *)
  Lemma later_closes p t : closes_at s' (later_placed p) (t + d) = closes_at s p t.
  Proof.
    unfold closes_at; cbn; destruct (origin p) as [o|]; cbn; [|reflexivity].
    change (last_instant s' (later_placed p)) with (last_instant s' p); rewrite !later_last, eqb_plus.
    change (slide s' (win p)) with (slide s (win p)); change (least s' (win p)) with (least s (win p)).
    now replace (t + d - (last_instant s p o 0 + d)) with (t - last_instant s p o 0) by lia.
  Qed.
  Lemma later_periodic p t : is_periodic s' (later_placed p) (t + d) = is_periodic s p t.
  Proof.
    unfold is_periodic, border; cbn; destruct (periodic s) as [[λ a]|]; cbn; [|reflexivity].
    destruct a; [|destruct (origin p)|destruct (t1 p)]; cbn; try reflexivity;
    do 2 f_equal; destruct (closure s); lia.
  Qed.
  Lemma later_timely o t p : timely s' (o + d) (t + d) (later_placed p) = timely s o t p.
  Proof.
    unfold timely, has_scope; rewrite later_closes, later_current, later_periodic, ltb_plus; cbn.
    now destruct (periodic s).
  Qed.
  Lemma later_differs a b : differs s' (map later a) (map later b) = differs s a b.
  Proof.
    unfold differs; cbn; destruct (change_scope s); rewrite ?flat_map_map, ?(map_later sys) by reflexivity; reflexivity.
  Qed.
  Lemma later_worthy t before p c :
    good p -> worthy s' (t + d) (map later before) (later_placed p) (map later c) = worthy s t before p c.
  Proof.
    intros G; unfold worthy, has_scope; rewrite later_current, later_content, later_differs by assumption; cbn.
    now destruct (content s p t before).
  Qed.
  Definition later_memory (m : Memory) : Memory :=
    {| reported := map (map later) (reported m); previous := map (map later) (previous m) |}.
  Lemma later_contents ps t before :
    Forall good ps ->
    contents s' (map later_placed ps) (t + d) (map later before) = map (map later) (contents s ps t before).
  Proof.
    unfold contents; intros G; rewrite !map_map; apply map_ext_in; intros p Hp.
    apply later_content; revert p Hp; now apply Forall_forall.
  Qed.
  Lemma later_report_at ps t k before :
    Forall good ps ->
    report_at s' (map later_placed ps) (t + d) k (map later before) = later_report (report_at s ps t k before).
  Proof.
    intros G; unfold report_at, later_report; cbn; rewrite later_contents by assumption; f_equal.
    rewrite !map_map; apply map_ext; intros; apply later_borders_at.
  Qed.
  Lemma later_states ps o t before cs :
    Forall good ps ->
    map (fun x => (win (fst x), timely s' (o + d) (t + d) (fst x) && worthy s' (t + d) (map later before) (fst x) (snd x)))
      (combine (map later_placed ps) (map (map later) cs)) =
    map (fun x => (win (fst x), timely s o t (fst x) && worthy s t before (fst x) (snd x))) (combine ps cs).
  Proof.
    intros G; revert cs; induction G as [|p ps Hp G IH]; intros [|c cs]; cbn; try reflexivity.
    now rewrite IH, later_timely, later_worthy.
  Qed.
  Definition later_found (x : list Report * Memory) := (map later_report (fst x), later_memory (snd x)).
  Lemma later_visit ps before o k ts m :
    Forall good ps ->
    visit s' (map later_placed ps) (map later before) (o + d) k (map (fun t => t + d) ts) (later_memory m) =
    later_found (visit s ps before o k ts m).
  Proof.
    intros G; revert m; induction ts as [|t ts IH]; intros m; cbn; [reflexivity|].
    replace (compared_with s' (later_memory m)) with (map (map later) (compared_with s m))
      by (unfold compared_with; cbn; now destruct (baseline s)).
    rewrite later_states, later_contents, later_report_at by assumption.
    change (fires s') with (fires s); set (ok := fires s _).
    match goal with |- context [visit s ps before o k ts ?m1] =>
      specialize (IH m1); destruct (visit s ps before o k ts m1) as [rs m'] end.
    unfold later_memory in IH at 1; cbn in IH.
    destruct (missed s), ok; cbn in *; rewrite IH; reflexivity.
  Qed.
  Lemma later_by_instant ps before o k ts m :
    Forall good ps ->
    by_instant s' (map later_placed ps) (map later before) (o + d) k (map (fun t => t + d) ts) (later_memory m) =
    later_found (by_instant s ps before o k ts m).
  Proof.
    intros G; unfold by_instant; rewrite later_visit by assumption; destruct (visit s ps before o k ts m) as [rs m'].
    cbn; destruct (missed s); [reflexivity|].
    rewrite <- map_rev; now destruct (rev rs).
  Qed.
  Definition later_looked (l : Looked) : Looked :=
    {| looked_app := looked_app l + d; looked_batch := looked_batch l; looked_own := looked_own l + d |}.
  Lemma no_tuple_first ps : Forall good ps -> first_is_tuple ps = false.
  Proof. intros G; destruct G as [|p ps Hp]; cbn; [reflexivity|]. unfold good in Hp; destruct (kind (win p)); congruence. Qed.
  Lemma good_later ps : Forall good ps -> Forall good (map later_placed ps).
  Proof. intros G; apply Forall_map; eapply Forall_impl; [|exact G]; trivial. Qed.
  Lemma later_run ps start before l m k arrivals :
    Forall good ps ->
    run s' (map later_placed ps) (start + d) (map later before) (later_looked l) (later_memory m) k
      (map later_arrival arrivals) =
    map later_report (run s ps start before l m k arrivals).
  Proof.
    intros G; revert before l m k; induction arrivals as [|a rest IH]; intros; cbn; [reflexivity|].
    replace (is_due s' (later_looked l) (later_arrival a)) with (is_due s l a)
      by (unfold is_due; cbn; destruct (tick s); rewrite ?ltb_plus; reflexivity).
    replace (match option_map later (element a) with Some e => map later before ++ [e] | None => map later before end)
      with (map later (match element a with Some e => before ++ [e] | None => before end))
      by (destruct (element a); cbn; now rewrite ?map_app).
    destruct (is_due s l a); [|apply IH].
    rewrite !no_tuple_first, later_own, later_interval, later_by_instant by auto using good_later.
    destruct (by_instant _ _ _ _ _ _ _) as [rs m']; cbn; rewrite map_app, <- IH; reflexivity.
  Qed.

  (** §9 *)
  Lemma later_elements all keep :
    (forall es, keep (map later es) = map later (keep es)) ->
    elements_of q' (map later all) keep = map later (elements_of q all keep).
  Proof.
    intros K; unfold elements_of; cbn; induction (nodup Z.eq_dec (map on (windows q))) as [|n ns IH]; cbn; [reflexivity|].
    now rewrite IH, (filter_map _ later (fun e => stream e =? n)), K, map_app.
  Qed.
  Lemma later_maximum xs x : fold_left Z.max (map (fun t => t + d) xs) (x + d) = fold_left Z.max xs x + d.
  Proof.
    revert x; induction xs as [|y xs IH]; intros x; cbn; [reflexivity|].
    rewrite <- IH; f_equal; lia.
  Qed.
  Lemma later_horizon ws es : horizon_of s' ws (map later es) = plus (horizon_of s ws es).
  Proof.
    unfold horizon_of; cbn; destruct (horizon s); cbn; try reflexivity.
    destruct es as [|e es]; cbn; [reflexivity|].
    unfold maximum; rewrite (map_map later until), <- (map_map until (fun t => t + d)), later_maximum; f_equal.
    change (reach s') with (reach s); lia.
  Qed.
  Lemma later_arrivals all : arrivals_of s' q' (map later all) = map later_arrival (arrivals_of s q all).
  Proof.
    unfold arrivals_of; change (lateness s') with (lateness s); change (windows q') with (windows q).
    rewrite later_elements by (intros; apply later_admitted).
    rewrite (later_sort _ (comes_after (map on (windows q)))) by
      (intros a b; unfold comes_after; cbn; now rewrite ltb_plus, eqb_plus).
    set (es := sort _ _); rewrite (map_later sys), (map_later batch) by reflexivity.
    rewrite later_horizon, map_app, !map_map; f_equal.
    now destruct (horizon_of s (windows q) es).
  Qed.
  Lemma later_starts ps : starts s' (map later_placed ps) = map (fun t => t + d) (starts s ps).
  Proof.
    unfold starts; induction ps as [|p ps IH]; cbn [flat_map map]; [reflexivity|].
    rewrite later_s0, IH; now destruct (s0 s p).
  Qed.
  Lemma later_minimum xs x : fold_left Z.min (map (fun t => t + d) xs) (x + d) = fold_left Z.min xs x + d.
  Proof.
    revert x; induction xs as [|y xs IH]; intros x; cbn; [reflexivity|].
    rewrite <- IH; f_equal; lia.
  Qed.
  Theorem later_reports all : reports s' q' (map later all) = map later_report (reports s q all).
  Proof.
    unfold reports; change (windows q') with (windows q); cbv zeta.
    replace (map (place s' q' (map later all)) (windows q)) with (map later_placed (map (place s q all) (windows q)))
      by (rewrite map_map; apply map_ext_in; intros; symmetry; now apply later_place).
    set (ps := map (place s q all) (windows q)); rewrite later_starts; destruct (starts s ps) as [|x xs]; cbn [map]; [reflexivity|].
    rewrite later_minimum, later_arrivals, <- (later_run ps _ []).
    - f_equal; unfold later_memory; cbn; rewrite !map_map; reflexivity.
    - apply Forall_forall; intros p Hp; unfold ps in Hp; apply in_map_iff in Hp as (w & <- & Hw).
      unfold good; cbn; auto.
  Qed.

  (** §8 *)
  Lemma later_dataset cs : dataset q' (map (map later) cs) = dataset q cs.
  Proof.
    unfold dataset; cbn; do 2 f_equal; generalize (windows q); intros ws.
    revert cs; induction ws as [|w ws IH]; intros [|c cs]; cbn; try reflexivity.
    now rewrite IH, flat_map_map.
  Qed.
  Lemma later_still a b : still_there (map later a) (map later b) = map later (still_there a b).
  Proof. unfold still_there; apply filter_map; intros e; now rewrite (map_later sys) by reflexivity. Qed.

  (** R2R-22 *)
  Definition later_match (m : Match) : Match :=
    {| bindings := bindings m; triples := triples m; parts := parts m; earliest := earliest m + d |}.
  Definition later_join (j : Join) : Join :=
    {| left := map later_match (left j); right := map later_match (right j) |}.
  Definition later_state (x : list Join * list Match) := (map later_join (fst x), map later_match (snd x)).
  Lemma later_both a b : both (later_match a) (later_match b) = later_match (both a b).
  Proof. unfold both, later_match; cbn; f_equal; lia. Qed.
  Lemma later_can_join near now a b :
    can_join near (now + d) (later_match a) (later_match b) = can_join near now a b.
  Proof.
    unfold can_join; cbn; f_equal; destruct near; [|reflexivity].
    replace (now + d - Z.min (earliest a + d) (earliest b + d)) with (now - Z.min (earliest a) (earliest b))
      by lia; reflexivity.
  Qed.
  Lemma later_partner ms : partner s' (map later_match ms) = option_map later_match (partner s ms).
  Proof.
    unfold partner; change (consumption s') with (consumption s).
    destruct (consumption s); rewrite <- ?map_rev; [now destruct ms|now destruct (rev ms)|now destruct ms].
  Qed.
  Lemma later_without m ms : without (later_match m) (map later_match ms) = map later_match (without m ms).
  Proof. now apply filter_map. Qed.
  Lemma later_climb near now is_left m joins :
    climb s' near (now + d) is_left (later_match m) (map later_join joins) =
    later_state (climb s near now is_left m joins).
  Proof.
    revert is_left m; induction joins as [|j joins IH]; intros is_left m; cbn [climb map]; [reflexivity|].
    assert (C : forall ms, filter (can_join near (now + d) (later_match m)) (map later_match ms) =
                           map later_match (filter (can_join near now m) ms))
      by (intros; apply filter_map; intros; apply later_can_join).
    destruct is_left; cbn [left right later_join]; rewrite C, later_partner;
      match goal with |- context [option_map _ ?p] => destruct p as [x|] end; cbn [option_map];
      rewrite ?later_both, ?IH, ?later_without;
      try match goal with |- context [climb s near now ?l ?m1 joins] => destruct (climb s near now l m1 joins) end;
      unfold later_state, later_join; cbn; rewrite ?map_app; reflexivity.
  Qed.
  Lemma later_come near e x state n :
    come s' near (later e) x (later_state state) n = later_state (come s near e x state n).
  Proof.
    destruct state as [joins made], n as [n p]; unfold come, later_state; cbn [fst snd].
    destruct (fit p x) as [b|]; [|reflexivity]; cbn [sys until app later].
    rewrite skipn_map, firstn_map.
    pose proof (later_climb near (app e) (Nat.eqb n 0)
      {| bindings := b; triples := [x]; parts := [sys e]; earliest := until e |} (skipn (Nat.pred n) joins)) as C.
    unfold later_match in C at 1; cbn in C; rewrite C; clear C.
    destruct (climb s _ _ _ _ _); cbn; now rewrite !map_app.
  Qed.
  Lemma later_fold {A} (f g : list Join * list Match -> A -> list Join * list Match) xs state :
    (forall st x, f (later_state st) x = later_state (g st x)) ->
    fold_left f xs (later_state state) = later_state (fold_left g xs state).
  Proof. intros E; revert state; induction xs as [|x xs IH]; intros; cbn; [reflexivity|]. rewrite E; apply IH. Qed.
  Lemma later_matches near ps es :
    matches s' near ps (map later es) = map later_match (matches s near ps es).
  Proof.
    unfold matches; set (numbered := combine _ _).
    set (f := fun state e => fold_left (fun state x => fold_left (come s near e x) numbered state) (graph e) state).
    assert (F : forall xs st, fold_left
        (fun state e => fold_left (fun state x => fold_left (come s' near e x) numbered state) (graph e) state)
        (map later xs) (later_state st) = later_state (fold_left f xs st)).
    { induction xs as [|e xs IH]; intros; cbn; [reflexivity|]; rewrite <- IH; f_equal.
      change (graph (later e)) with (graph e); unfold f.
      apply later_fold; intros; apply later_fold; intros; apply later_come. }
    match goal with |- context [fold_left _ es ?start] => specialize (F es start) end.
    match type of F with fold_left _ _ ?a = _ => match goal with |- context [fold_left _ (map later es) ?b] =>
      change b with ([] : list Join, [] : list Match) || idtac; replace a with b in F end end.
    - rewrite F; reflexivity.
    - unfold later_state; cbn; f_equal; rewrite map_map; reflexivity.
  Qed.
  Lemma later_rows es cs :
    rows_of_matches s' q' (map later es) (map (map later) cs) = rows_of_matches s q es cs.
  Proof.
    unfold rows_of_matches; cbn [windows q' later_query patterns selected].
    destruct (windows q) as [|w ws]; [reflexivity|]; destruct cs as [|c cs]; [reflexivity|]; cbn [map].
    change (reach_of s' w) with (reach_of s w).
    rewrite later_matches, (map_later sys) by reflexivity.
    rewrite (filter_map _ later_match (fun m => forallb (fun x => existsb (Z.eqb x) (map sys c)) (parts m)))
      by reflexivity.
    now rewrite map_map.
  Qed.
  Lemma later_answer answer es cs :
    answer_over answer s' q' (map later es) (map (map later) cs) = answer_over answer s q es cs.
  Proof.
    unfold answer_over; change (consumption s') with (consumption s).
    change (collection s') with (collection s); now rewrite later_dataset, later_rows.
  Qed.
  Lemma later_outputs answer es base_ last kept rs :
    outputs answer s' q' (map later es) base_ last (map (map later) kept) (map later_report rs) =
    map (fun x => (later_report (fst x), snd x)) (outputs answer s q es base_ last kept rs).
  Proof.
    revert base_ last kept; induction rs as [|r rs IH]; intros; cbn [outputs map]; [reflexivity|].
    change (holding (later_report r)) with (map (map later) (holding r)).
    assert (St : map (fun x => still_there (fst x) (snd x))
                   (combine (map (map later) (holding r)) (map (map later) kept)) =
                 map (map later) (map (fun x => still_there (fst x) (snd x)) (combine (holding r) kept))).
    { generalize (holding r) kept; induction l as [|a l IHl]; intros [|b l']; cbn; try reflexivity.
      f_equal; [apply later_still|apply IHl]. }
    cbv zeta; change (op s' q') with (op s q).
    match type of St with ?l = _ => match goal with
      |- context [map ?f (combine ?x ?y)] => change (map f (combine x y)) with l end end.
    rewrite St, !later_answer, IH.
    now destruct (emits _ _ _).
  Qed.

  (** A report names an arrival that is there. *)
  Lemma visit_arrival ps before o k ts m r : In r (fst (visit s ps before o k ts m)) -> arrival r = k.
  Proof.
    revert m; induction ts as [|t ts IH]; intros m; cbn; [tauto|].
    set (ok := fires s _).
    match goal with |- context [visit s ps before o k ts ?m1] =>
      specialize (IH m1); destruct (visit s ps before o k ts m1) as [rs m'] end.
    destruct ok; cbn in *; [intros [<-|]|]; auto.
  Qed.
  Lemma by_instant_arrival ps before o k ts m r : In r (fst (by_instant s ps before o k ts m)) -> arrival r = k.
  Proof.
    unfold by_instant; pose proof (visit_arrival ps before o k ts m) as V.
    destruct (visit s ps before o k ts m) as [rs m']; cbn in V; destruct (missed s); [apply V|].
    destruct (rev rs) as [|x xs] eqn:R; cbn; [apply V|].
    intros [<-|[]]; apply V; rewrite in_rev, R; now left.
  Qed.
  Lemma run_in_range ps start before l m k arrivals r :
    Forall good ps -> In r (run s ps start before l m k arrivals) ->
    k <= arrival r < k + Z.of_nat (length arrivals).
  Proof.
    intros G; revert before l m k; induction arrivals as [|a rest IH]; intros before l m k; cbn [run]; [easy|].
    cbn [length]; rewrite no_tuple_first by assumption.
    destruct (is_due s l a); [|intros H; apply IH in H; lia].
    pose proof (by_instant_arrival ps before (own s ps a) k (interval s ps start (looked_own l) (own s ps a)) m r) as B.
    destruct (by_instant _ _ _ _ _ _ _) as [rs m']; rewrite in_app_iff; intros [H|H]; [apply B in H|apply IH in H]; lia.
  Qed.
  Lemma reports_in_range all r :
    In r (reports s q all) -> 0 <= arrival r < Z.of_nat (length (arrivals_of s q all)).
  Proof.
    unfold reports; destruct (starts s _) as [|x xs]; [easy|]; intros H; apply run_in_range in H; [lia|].
    apply Forall_forall; intros p Hp; apply in_map_iff in Hp as (w & <- & Hw); unfold good; cbn; auto.
  Qed.
  Lemma outputs_in answer es base_ last kept rs x :
    In x (outputs answer s q es base_ last kept rs) -> In (fst x) rs.
  Proof.
    revert base_ last kept; induction rs as [|r rs IH]; intros base_ last kept; cbn; [tauto|].
    destruct (emits _ _ _); cbn; [intros [<-|H]|intros H]; eauto.
  Qed.
  Lemma nth_plus arrivals i :
    0 <= i < Z.of_nat (length arrivals) ->
    nth (Z.to_nat i) (map (fun x => at_ (later_arrival x)) arrivals) 0 =
    nth (Z.to_nat i) (map at_ arrivals) 0 + d.
  Proof.
    intros H; rewrite (nth_indep _ 0 (0 + d)) by (rewrite map_length; lia).
    change (fun x => at_ (later_arrival x)) with (fun x => at_ x + d).
    rewrite <- (map_map at_ (fun t => t + d)); now rewrite (map_nth (fun t => t + d)).
  Qed.

  Theorem time_shift answer all :
    evaluate answer s' q' (map later all) = map later_emitted (evaluate answer s q all).
  Proof.
    unfold evaluate; cbv zeta; rewrite later_reports, later_arrivals.
    replace (map (fun _ => []) (windows q')) with (map (map later) (map (fun _ : Window => []) (windows q)))
      by (rewrite map_map; reflexivity).
    change (lateness s') with (lateness s).
    rewrite (later_elements all (admitted (lateness s))) by (intros; apply later_admitted).
    rewrite later_outputs, !map_map.
    apply map_ext_in; intros [r b] Hr; cbn [fst snd].
    apply outputs_in, reports_in_range in Hr; cbn [fst] in Hr.
    unfold emitted_of; cbv zeta; rewrite !map_map; cbn [fst snd].
    change (fun x => a_sys (later_arrival x)) with a_sys.
    rewrite later_elements by (intros; apply later_dropped).
    unfold later_emitted; cbn [report triggered_by stamped late rows]; change (arrival (later_report r)) with (arrival r).
    f_equal.
    - rewrite nth_plus by lia; reflexivity.
    - unfold stamp, border; change (instant s') with (instant s); change (closure s') with (closure s).
      change (arrival (later_report r)) with (arrival r); change (at_instant (later_report r)) with (at_instant r + d).
      rewrite map_map; destruct (instant s); try (destruct (closure s); lia); [rewrite nth_plus by lia; reflexivity|].
      destruct (arrival r =? 0) eqn:Z0; [reflexivity|]; apply Z.eqb_neq in Z0; rewrite nth_plus by lia; reflexivity.
    - set (n := nth _ _ _).
      rewrite (filter_map _ later (fun e => sys e <? n)) by reflexivity; now rewrite map_length.
  Qed.
End TimeShift.
