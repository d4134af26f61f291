(** Windows that are each reported on their own (docs/firings.md) and the active one: REP-14. *)
From Coq Require Import ZArith List Bool Lia Sorted Permutation.
From RefEngine Require Import Definitions Windows Alike Equivalences Choices OneWindow Single Coverage Firings.
Import ListNotations.
Open Scope Z_scope.

(** * Elements, each after those before it *)

Lemma each_after_filter (g : Element -> bool) (late : list Element -> bool) es : forall before,
  (forall xs e ys, es = xs ++ e :: ys -> g e = true -> late (before ++ xs) = false) ->
  map snd (filter (fun x => g (snd x) && negb (late (fst x))) (each_after before es)) = filter g es.
Proof.
  induction es as [|e es IH]; intros before H; cbn [each_after filter map]; [reflexivity|]; cbn [fst snd].
  assert (R : map snd (filter (fun x => g (snd x) && negb (late (fst x))) (each_after (before ++ [e]) es)) = filter g es).
  { apply IH; intros xs y ys -> G; rewrite <- app_assoc; now apply (H (e :: xs) y ys). }
  destruct (g e) eqn:G; cbn [andb]; [|exact R].
  specialize (H [] e es eq_refl G); rewrite app_nil_r in H; rewrite H; cbn [negb map snd]; now rewrite R.
Qed.
Lemma filter_twice {A} (g h : A -> bool) xs : filter g (filter h xs) = filter (fun x => h x && g x) xs.
Proof. induction xs as [|x xs IH]; cbn; [reflexivity|]; destruct (h x); cbn; [destruct (g x)|]; now rewrite IH. Qed.
Lemma in_order_split xs ys : in_order (xs ++ ys) -> forall a b, In a xs -> In b ys -> app a <= app b.
Proof.
  induction xs as [|x xs IH]; cbn; [easy|]; intros [H O] a b [<-|Ha] Hb; [|now apply IH].
  apply H, in_app_iff; now right.
Qed.
Lemma maximum_in xs x : maximum xs x = x \/ In (maximum xs x) xs.
Proof.
  revert x; induction xs as [|y xs IH]; intros x; [now left|]; change (maximum (y :: xs) x) with (maximum xs (Z.max x y)).
  destruct (IH (Z.max x y)) as [E|E]; [|right; now right]; rewrite E; destruct (Z.max_spec x y) as [[_ ->]|[_ ->]]; [right; now left|now left].
Qed.

(** * One arrival *)

Section EachWindow.
  Variables (s : Semantics) (f : Firings) (p : Placed) (o : Z).
  Let w := win p.
  Let start := s0_at s p o.
  Let last := last_instant s p o.
  Hypothesis time : kind w = Time.
  Hypothesis no_lag : lag w = 0.
  Hypothesis sizes : 0 < size w /\ 0 < slide s w.
  Hypothesis fits : closure s = Open -> 2 <= size w. (* QRY-5 *)
  Hypothesis placed : origin p = Some o.
  Hypothesis closing : window_close s = true.
  Hypothesis unchanged : content_change s = false.
  Hypothesis all_in_a_gap : missed s = All.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true. (* QRY-5 *)
  Hypothesis none_early : early_count f = None /\ early_period f = None.
  Hypothesis greatest : late_for f = ForStream \/ (late_for f = ForWindow /\ watermark_of f = Greatest /\ watermark_delay f = 0).
  Hypothesis grace : forall d, lateness s = Some d -> 0 <= d.

  Lemma width_positive : first_instant s p o 0 <= last 0 /\ last 0 + least s w * slide s w >= first_instant s p o 0.
  Proof.
    assert (Sp : span w = size w) by (unfold span; now rewrite time).
    assert (G : first_instant s p o 0 <= last 0 /\ 0 <= cut s w <= last 0 - first_instant s p o 0).
    { unfold last, last_instant, first_instant, low, high, cut; fold w; rewrite time, Sp; cbn.
      destruct (closure s); try (specialize (fits eq_refl)); lia. }
    split; [apply G|]; unfold least.
    assert (0 <= cut s w / slide s w) by (apply Z.div_pos; lia).
    assert (slide s w * (cut s w / slide s w) <= cut s w) by (apply Z.mul_div_le; lia).
    destruct (partial s); nia.
  Qed.
  Lemma last_is n : last n = last 0 + n * slide s w.
  Proof. unfold last, last_instant; fold w; lia. Qed.
  Lemma last_after_start n : least s w <= n -> start < last n.
  Proof. intros L; pose proof width_positive as [_ G]; unfold start, s0_at; rewrite last_is; nia. Qed.
  Lemma one_last n n' : last n = last n' -> n = n'.
  Proof. rewrite (last_is n), (last_is n'); nia. Qed.
  Lemma begins_before_last n : least s w <= n -> clipped_first s p o n <= last n.
  Proof.
    intros L; pose proof (last_after_start n L) as A; pose proof width_positive as [G _].
    assert (F : first_instant s p o n <= last n)
      by (rewrite last_is; unfold first_instant in *; fold w in G |- *; lia).
    unfold clipped_first; unfold start, s0_at in A; destruct (partial s); lia.
  Qed.
  Lemma current_at_last n : least s w <= n -> current s p (last n) = Some n.
  Proof.
    intros L; unfold current; rewrite placed; unfold current_at; fold w start last.
    pose proof (last_after_start n L); replace (last n <? start) with false by lia; rewrite time.
    f_equal; unfold ceil_div; rewrite (last_is n); replace (last 0 + n * slide s w - last 0) with (n * slide s w) by lia.
    rewrite <- Z.mul_opp_l, Z.div_mul by lia; lia.
  Qed.

  Lemma closes_is t : closes_at s p t = (least s w <=? (t - last 0) / slide s w) && (last ((t - last 0) / slide s w) =? t).
  Proof. unfold closes_at; rewrite placed; reflexivity. Qed.
  Lemma number_of_last n : (last n - last 0) / slide s w = n.
  Proof. rewrite last_is; replace (last 0 + n * slide s w - last 0) with (n * slide s w) by lia; apply Z.div_mul; lia. Qed.

  Section OfElements.
    Variable before : list Element.
    Hypothesis ordered : in_order before.
    Hypothesis mine : forall e, In e before -> stream e = on w.

    (** No element that the window has comes after it has expired. *)
    Lemma none_expired xs e ys n : before = xs ++ e :: ys -> app e <= last n -> has_expired s f xs (last n) = false.
    Proof.
      intros E L; unfold has_expired, watermark; destruct greatest as [-> | (-> & -> & ->)]; [reflexivity|].
      destruct xs as [|x xs]; cbn [map]; [reflexivity|].
      assert (M : maximum (map app xs) (app x) <= app e).
      { assert (A : forall y, In y (x :: xs) -> app y <= app e).
        { intros y Hy; apply (in_order_split (x :: xs) (e :: ys)); [now rewrite <- E|assumption|now left]. }
        destruct (maximum_in (map app xs) (app x)) as [->|I]; [apply A; now left|].
        apply in_map_iff in I as (y & <- & Hy); apply A; now right. }
      pose proof grace as G; destruct (lateness s) as [d|]; [specialize (G d eq_refl)|]; destruct (expiry_rule f); lia.
    Qed.
    (** What a window holds at its last instant is the active window's content. *)
    Lemma held_at_last n : least s w <= n -> held (numbered s f p o (seen_at f p (last n) before) n) = content s p (last n) before.
    Proof.
      intros L; unfold numbered, seen_at; cbn [held]; fold last w.
      unfold content; rewrite placed, current_at_last by assumption; fold w; rewrite time.
      rewrite (filter_all (fun e => stream e =? on w)) by (intros e He; apply Z.eqb_eq; auto).
      set (h := fun e => (stream e =? on w) && match late_for f with ForStream => app e <=? last n | _ => true end).
      set (g := fun e => (app e <=? last n) && (clipped_first s p o n <=? until e)).
      transitivity (filter (fun e => h e && g e) before).
      - rewrite filter_twice, <- (each_after_filter (fun e => h e && g e) (fun xs => has_expired s f xs (last n)) before []).
        + f_equal; apply filter_ext; intros [xs e]; cbn [fst snd]; unfold h, g; destruct (late_for f); cbn;
            now rewrite ?andb_assoc.
        + intros xs e ys Es G; cbn [List.app]; apply (none_expired xs e ys n Es); unfold g in G; lia.
      - apply filter_ext_in; intros e He; unfold h, g, meets; fold w; rewrite time, no_lag; unfold begins, ends; fold w; rewrite time.
        pose proof (begins_before_last n L); rewrite !Z.sub_0_r, (mine e He), Z.eqb_refl.
        replace (clipped_first s p o n <=? last n) with true by lia; rewrite andb_true_r.
        destruct (late_for f); cbn [andb]; [destruct (app e <=? last n)| |]; reflexivity.
    Qed.

    Variables (old newer : list Element) (a : Arrival) (k first : Z).
    Hypothesis parts : before = old ++ newer.
    Hypothesis not_late : Forall (fun e => first <= Z.max start (app e)) newer.
    Let own_ := own s [p] a.
    (** Whether the active window is reported at t. *)
    Definition reports_at (t : Z) : bool :=
      closes_at s p t && (t <? own_) && is_periodic s p t && (negb (non_empty s) || negb (is_empty (content s p t before))).
    Let visit t (state : list (Report * bool) * list Held) h :=
      let (rs, m) := state in
      let late := (t =? first) && (held_last h <? first) && existsb (fun e => negb (Firings.is_in old e)) (held h) in
      if Firings.is_reported s f p o a t late m h then let (new, m') := show f t k m h in (rs ++ new, m') else state.

    Lemma is_in_old e : In e old -> Firings.is_in old e = true.
    Proof. intros H; apply existsb_exists; exists e; split; [assumption|apply Z.eqb_refl]. Qed.
    (** No element comes to a window that has closed. *)
    Lemma never_late t n : least s w <= n ->
      (t =? first) && (last n <? first) && existsb (fun e => negb (Firings.is_in old e)) (held (numbered s f p o (seen_at f p t before) n)) = false.
    Proof.
      intros L; destruct (last n <? first) eqn:F; [|now rewrite andb_false_r]; rewrite andb_true_r.
      apply andb_false_iff; right; apply not_true_iff_false; intros H; apply existsb_exists in H as (e & He & N).
      unfold numbered in He; cbn [held] in He; apply in_map_iff in He as ([b y] & <- & He); cbn [snd] in *.
      apply filter_In in He as [I G]; cbn [fst snd] in G; fold last in G; rewrite !andb_true_iff in G.
      assert (A : app y <= last n) by lia.
      assert (B : In y before).
      { assert (T : forall es b0, In (b, y) (each_after b0 es) -> In y es).
        { clear; induction es as [|x es IH]; cbn; [easy|]; intros b0 [[= _ ->]|H]; [now left|right; now apply (IH (b0 ++ [x]))]. }
        unfold seen_at in I; apply filter_In in I as [I _]; now apply T in I. }
      rewrite parts in B; apply in_app_iff in B as [B|B]; [now rewrite (is_in_old y B) in N|].
      rewrite Forall_forall in not_late; specialize (not_late y B); pose proof (last_after_start n L); lia.
    Qed.
    Lemma not_closing t rs m n : least s w <= n -> last n <> t ->
      visit t (rs, m) (numbered s f p o (seen_at f p t before) n) = (rs, m).
    Proof.
      intros L N; unfold visit; cbn [held_last numbered]; fold last; rewrite never_late by assumption.
      unfold Firings.is_reported, all_hold, closes_window, is_early; rewrite closing; destruct none_early as [-> ->].
      cbn [held_last numbered negb orb]; fold last; replace (t =? last n) with false by lia; cbn.
      destruct (is_open f t _), (_ <=? _); reflexivity.
    Qed.
    (** A window that closes is reported as the active one is. *)
    Lemma closing_now t rs m n : least s w <= n -> last n = t ->
      Forall (fun one => exists i, number one = Some i /\ last i <> t) m ->
      exists m', visit t (rs, m) (numbered s f p o (seen_at f p t before) n) =
        ((rs ++ if reports_at t then [(report_at s [p] t k before, false)] else []), m') /\
        forall one, In one m' -> In one m \/ (number one = Some n /\ t < own_).
    Proof.
      intros L E M; set (h := numbered s f p o (seen_at f p t before) n).
      assert (Hc : held h = content s p t before) by (unfold h; rewrite <- E; now apply held_at_last).
      assert (Sh : shown_of m h = []).
      { unfold shown_of; enough (F : filter (is_of h) m = []) by now rewrite F.
        apply filter_none; intros one I; rewrite Forall_forall in M; destruct (M one I) as (i & Ni & Li).
        unfold is_of; rewrite Ni; cbn; destruct (i =? n) eqn:Q; [|reflexivity]; apply Z.eqb_eq in Q; subst; congruence. }
      assert (Sc : shown_content m h = []).
      { unfold shown_content; rewrite Sh; cbn; unfold still_there; cbn; apply filter_none; reflexivity. }
      assert (Pa : pane f m h = content s p t before).
      { unfold pane; rewrite Sc, Hc; destruct (panes f); try reflexivity; apply filter_all; reflexivity. }
      assert (Cl : closes_at s p t = true).
      { rewrite closes_is, <- E, number_of_last; lia. }
      assert (Fi : Firings.is_reported s f p o a t false m h = reports_at t).
      { unfold Firings.is_reported, all_hold, closes_window, is_early, reports_at; rewrite closing, unchanged, Pa, Cl.
        destruct none_early as [-> ->]; unfold h; cbn [held_last numbered negb orb andb]; fold last w own_ start; rewrite time.
        pose proof (last_after_start n L); replace (start <=? last n) with true by lia; cbn [andb].
        unfold is_open; cbn [held_first held_last numbered]; fold last.
        replace (clipped_first s p o n <=? newest f t) with true.
        2: { symmetry; apply Z.leb_le; unfold newest; pose proof (begins_before_last n L).
             destruct greatest as [-> | (-> & _ & ->)]; lia. }
        replace (t <=? last n) with true by lia; replace (t =? last n) with true by lia; cbn.
        rewrite orb_false_r, andb_true_r; destruct (t <? own_), (is_periodic s p t); cbn; now rewrite ?andb_true_r, ?andb_false_r. }
      pose proof (never_late t n L) as Nv; fold h in Nv.
      unfold visit; cbv beta zeta; change (held_last h) with (last n); rewrite Nv, Fi.
      destruct (reports_at t) eqn:R; [|exists m; rewrite app_nil_r; split; [reflexivity|auto]].
      unfold show; rewrite Sh; cbn [filter map List.app]; eexists; split.
      - do 2 f_equal; unfold as_report, report_at, contents; rewrite Pa; cbn [map]; do 3 f_equal.
        unfold borders; rewrite placed, <- E, current_at_last by assumption; fold w; rewrite time, no_lag.
        unfold h; cbn [opens closes numbered]; fold w; unfold span; rewrite time; now rewrite !Z.sub_0_r.
      - intros one I; apply in_app_iff in I as [I|[<-|[]]]; [left; now apply filter_In in I|right; split; [reflexivity|]].
        unfold reports_at in R; rewrite !andb_true_iff in R; destruct R as [[[_ R] _] _]; lia.
    Qed.
    Lemma at_instant_ t rs m : start <= t ->
      Forall (fun one => exists i, number one = Some i /\ last i <> t) m ->
      exists m', fold_left (visit t) (windows_at s f p o t before) (rs, m) =
        ((rs ++ if reports_at t then [(report_at s [p] t k before, false)] else []), m') /\
        forall one, In one m' -> In one m \/ (exists n, number one = Some n /\ last n = t /\ t < own_).
    Proof.
      intros St M; unfold windows_at; fold w; rewrite time.
      set (ns := upto _ _); set (num := numbered s f p o (seen_at f p t before)).
      assert (Ls : forall n, In n ns -> least s w <= n) by (intros n I; apply in_upto in I; lia).
      assert (No : forall xs rs m, (forall n, In n xs -> In n ns /\ last n <> t) ->
                fold_left (visit t) (map num xs) (rs, m) = (rs, m)).
      { intros xs; induction xs as [|x xs IH]; intros rs' m' H; cbn [map fold_left]; [reflexivity|].
        unfold num at 1; rewrite not_closing by (apply Ls || idtac; now apply H; left). apply IH; intros n I; apply H; now right. }
      destruct (in_dec Z.eq_dec ((t - last 0) / slide s w) ns) as [I|I];
        [destruct (Z.eq_dec (last ((t - last 0) / slide s w)) t) as [E|E]|].
      - set (n := (t - last 0) / slide s w) in *.
        assert (Nd : NoDup ns) by apply upto_nodup.
        apply List.in_split in I as (xs & ys & Ens); rewrite Ens in Nd |- *.
        apply NoDup_remove_2 in Nd; rewrite in_app_iff in Nd.
        assert (Ot : forall i, In i (xs ++ ys) -> In i ns /\ last i <> t).
        { intros i Hi; split; [rewrite Ens, in_app_iff in *; cbn; tauto|]; intros Q; rewrite <- E in Q; apply one_last in Q; subst i.
          apply in_app_iff in Hi; tauto. }
        rewrite map_app, fold_left_app; cbn [map fold_left]; rewrite No by (intros i Hi; apply Ot, in_app_iff; now left).
        destruct (closing_now t rs m n) as (m' & V & M'); [apply Ls; rewrite Ens, in_app_iff; cbn; tauto|assumption|assumption|].
        change (numbered s f p o (seen_at f p t before) n) with (num n) in V; rewrite V.
        rewrite No by (intros i Hi; apply Ot, in_app_iff; now right).
        exists m'; split; [reflexivity|]; intros one Ho; destruct (M' one Ho) as [?|[? ?]]; [now left|right; now exists n].
      - assert (R : reports_at t = false).
        { unfold reports_at; rewrite closes_is; replace (last _ =? t) with false by lia; now rewrite andb_false_r. }
        rewrite R, app_nil_r, No; [exists m; split; [reflexivity|auto]|].
        intros n Hn; split; [assumption|]; intros Q; apply E; now rewrite <- Q, number_of_last.
      - assert (R : reports_at t = false).
        { unfold reports_at; rewrite closes_is.
          destruct (least s w <=? _) eqn:Le; [|reflexivity]; destruct (last _ =? t) eqn:Q; [exfalso|reflexivity].
          apply I, in_upto; split; [lia|].
          enough ((t - last 0) / slide s w <= (newest f t - first_instant s p o 0) / slide s w) by lia.
          apply Z.div_le_mono; [lia|]; pose proof width_positive as [G _].
          assert (newest f t = t) by (unfold newest; destruct greatest as [-> | (-> & _ & ->)]; lia); lia. }
        rewrite R, app_nil_r, No; [exists m; split; [reflexivity|auto]|].
        intros n Hn; split; [assumption|]; intros Q; apply I; now rewrite <- Q, number_of_last.
    Qed.
    Lemma at_instants_ ts : forall rs m, NoDup ts -> (forall t, In t ts -> start <= t) ->
      Forall (fun one => exists i, number one = Some i /\ forall t, In t ts -> last i <> t) m ->
      exists m', fold_left (fun state t => fold_left (visit t) (windows_at s f p o t before) state) ts (rs, m) =
        (rs ++ map (fun t => (report_at s [p] t k before, false)) (filter reports_at ts), m') /\
        forall one, In one m' -> In one m \/ (exists n, number one = Some n /\ In (last n) ts /\ last n < own_).
    Proof.
      induction ts as [|t ts IH]; intros rs m Nd St M; cbn [fold_left filter map].
      - exists m; rewrite app_nil_r; split; [reflexivity|auto].
      - inversion Nd as [|? ? N1 N2]; subst; destruct (at_instant_ t rs m) as (m1 & -> & M1).
        + apply St; now left.
        + eapply Forall_impl; [|exact M]; intros one (i & Ni & Li); exists i; split; [assumption|apply Li; now left].
        + edestruct (IH (rs ++ if reports_at t then [(report_at s [p] t k before, false)] else []) m1 N2) as (m' & -> & M').
          * intros t' Ht; apply St; now right.
          * rewrite Forall_forall in *; intros one I; destruct (M1 one I) as [I'|(n & Nn & Ln & _)].
            -- destruct (M one I') as (i & Ni & Li); exists i; split; [assumption|]; intros t' Ht; apply Li; now right.
            -- exists n; split; [assumption|]; intros t' Ht Q; apply N1; congruence.
          * exists m'; split.
            -- f_equal; rewrite <- app_assoc; f_equal; destruct (reports_at t); reflexivity.
            -- intros one I; destruct (M' one I) as [I'|(n & Nn & In_ & Lo)]; [|right; exists n; repeat split; try assumption; now right].
               destruct (M1 one I') as [?|(n & Nn & Ln & Lo)]; [now left|right; exists n; repeat split; [assumption|left; congruence|lia]].
    Qed.
  End OfElements.

  (** * All arrivals *)

  Lemma visit_is before a k ts : (forall t, In t ts -> start <= t) -> forall x y,
    exists x' y', visit s [p] before (own s [p] a) k ts {| reported := [x]; previous := [y] |} =
      (map (fun t => report_at s [p] t k before) (filter (reports_at before a) ts), {| reported := [x']; previous := [y'] |}).
  Proof.
    induction ts as [|t ts IH]; intros St x y; cbn [visit filter map]; [now exists x, y|].
    assert (C : exists c, combine [p] (compared_with s {| reported := [x]; previous := [y] |}) = [(p, c)])
      by (unfold compared_with; cbn; destruct (baseline s); eexists; reflexivity).
    destruct C as [c ->]; cbn [map fst snd]; rewrite (OneWindow.fires_alone s p can_trigger).
    assert (Sc : has_scope s p t = true) by (apply (time_has_scope s p o t time placed), St; now left).
    assert (Ok : timely s (own s [p] a) t p && worthy s t before p c = reports_at before a t).
    { unfold timely, worthy, reports_at; rewrite Sc, closing, unchanged.
      replace (match periodic s with None => true | Some _ => is_periodic s p t && true end) with (is_periodic s p t)
        by (unfold is_periodic; destruct (periodic s) as [[? ?]|]; rewrite ?andb_true_r; reflexivity).
      cbn [negb orb andb]; rewrite !andb_true_r; reflexivity. }
    rewrite Ok, all_in_a_gap; cbv zeta.
    change (contents s [p] t before) with [content s p t before].
    destruct (reports_at before a t); cbn [reported].
    - destruct (IH (fun t' H => St t' (or_intror H)) (content s p t before) (content s p t before)) as (x' & y' & ->).
      now exists x', y'.
    - destruct (IH (fun t' H => St t' (or_intror H)) x (content s p t before)) as (x' & y' & ->); now exists x', y'.
  Qed.
  Lemma hd_of_interval since now t : In t (interval s [p] start since now) ->
    hd 0 (interval s [p] start since now) <= Z.max start since.
  Proof.
    unfold interval; rewrite filter_app, filter_from; set (b := _ || _).
    destruct (Z_lt_ge_dec (Z.max start since) now) as [L|L].
    - unfold upto; replace (Z.to_nat (now - Z.max start since)) with (S (Z.to_nat (now - Z.max start since - 1))) by lia.
      cbn; lia.
    - rewrite upto_nil by lia; destruct b; cbn; [|easy]; destruct (start <=? now); cbn; [lia|easy].
  Qed.
  Lemma interval_nodup since now : NoDup (interval s [p] start since now).
  Proof.
    unfold interval; apply NoDup_filter; set (b := _ || _); destruct b; [|rewrite app_nil_r; apply upto_nodup].
    eapply Permutation_NoDup; [apply Permutation_cons_append|]; constructor; [|apply upto_nodup].
    intros I; apply in_upto in I; lia.
  Qed.
  Definition is_of_stream (a : Arrival) : Prop :=
    match element a with Some e => at_ a = app e /\ stream e = on w | None => True end.
  Lemma own_is : exists d, 0 <= d /\ forall a, own s [p] a = at_ a - d.
  Proof.
    exists (match close_rule s, closure s with Passed, (RightOpen | Open) => 1 | _, _ => 0 end).
    split; [destruct (close_rule s), (closure s); lia|]; intros a; unfold own; fold w; rewrite time.
    destruct (close_rule s), (closure s); lia.
  Qed.
  Lemma at_watermark_is before a : is_of_stream a ->
    (forall e, In e before -> app e <= at_ a) -> at_watermark f start before a = a.
  Proof.
    intros G B; unfold at_watermark; destruct greatest as [-> | (F & Gr & De)]; [reflexivity|].
    rewrite F; destruct a as [x y z [e|]]; [|reflexivity]; cbn in *; destruct G as [-> _].
    unfold watermark; rewrite F, Gr, De; rewrite map_app; cbn [map].
    assert (M : match map app before ++ [app e] with [] => None | x :: xs => Some (maximum xs x - 0) end = Some (app e)).
    { destruct before as [|b before']; cbn [map List.app]; [cbn; f_equal; lia|]; f_equal.
      assert (maximum (map app before' ++ [app e]) (app b) >= app e)
        by (apply Z.le_ge, maximum_ge; right; apply in_app_iff; right; now left).
      assert (maximum (map app before' ++ [app e]) (app b) <= app e); [|lia].
      destruct (maximum_in (map app before' ++ [app e]) (app b)) as [->|I]; [apply B; now left|].
      apply in_app_iff in I as [I|[<-|[]]]; [|lia]; apply in_map_iff in I as (c & <- & Hc); apply B; now right. }
    now rewrite M.
  Qed.
  Lemma run_is arrivals : forall old newer l m x y k,
    in_order (old ++ newer) -> (forall e, In e (old ++ newer) -> stream e = on w) ->
    Forall is_of_stream arrivals -> StronglySorted (fun a b => at_ a <= at_ b) arrivals ->
    (forall e a, In e (old ++ newer) -> In a arrivals -> app e <= at_ a) ->
    Forall (fun e => looked_own l <= Z.max start (app e)) newer ->
    (forall a, In a arrivals -> looked_own l <= Z.max start (at_ a)) ->
    Forall (fun one => exists n, number one = Some n /\ last n < looked_own l /\
                                 forall a, In a arrivals -> last n < own s [p] a) m ->
    run_alone s f p o start old (old ++ newer) l m k arrivals =
    map (fun r => (r, false)) (run s [p] start (old ++ newer) l {| reported := [x]; previous := [y] |} k arrivals).
  Proof.
    induction arrivals as [|a rest IH]; intros old newer l m x y k Or Mi Go So Be Ne Lo Me; cbn [run_alone run]; [reflexivity|].
    inversion Go as [|? ? Ga Gr]; subst; inversion So as [|? ? Sr Sa]; subst.
    destruct own_is as (d & D & Ow).
    assert (Bea : forall e, In e (old ++ newer) -> app e <= at_ a) by (intros e He; apply (Be e a He); now left).
    rewrite at_watermark_is by assumption.
    set (before := old ++ newer) in *.
    set (before' := match element a with Some e => before ++ [e] | None => before end).
    assert (Or' : in_order before' /\ (forall e, In e before' -> stream e = on w) /\
                  (forall e b, In e before' -> In b rest -> app e <= at_ b)).
    { unfold before', is_of_stream in *; destruct (element a) as [e|].
      - destruct Ga as [Ga Gs]; repeat split.
        + rewrite Ga in Bea; clear - Or Bea; induction before as [|z zs IHz]; cbn in *; [split; [easy|exact I]|].
          destruct Or as [H1 H2]; split; [|apply IHz; auto].
          intros e' He; apply in_app_iff in He as [He|[<-|[]]]; auto.
        + intros z Hz; apply in_app_iff in Hz as [Hz|[<-|[]]]; auto.
        + intros z b Hz Hb; apply in_app_iff in Hz as [Hz|[<-|[]]]; [apply Be; [assumption|now right]|].
          rewrite Forall_forall in Sa; rewrite <- Ga; now apply Sa.
      - repeat split; [assumption|assumption|]; intros z b Hz Hb; apply Be; [assumption|now right]. }
    destruct Or' as (Or' & Mi' & Be').
    destruct (is_due s l a).
    - replace (first_is_tuple [p]) with false by (cbn; fold w; now rewrite time).
      set (ts := interval s [p] start (looked_own l) (own s [p] a)).
      assert (St : forall t, In t ts -> start <= t /\ looked_own l <= t) by (intros t Ht; apply interval_in in Ht; lia).
      assert (Fi : exists m', fired s f p o old before a k ts m =
          (map (fun t => (report_at s [p] t k before, false)) (filter (reports_at before a) ts), m') /\
          forall one, In one m' -> In one m \/ (exists n, number one = Some n /\ In (last n) ts /\ last n < own s [p] a)).
      { destruct ts as [|t0 ts'] eqn:Ts; [exists m; split; [reflexivity|auto]|]; rewrite <- Ts in *.
        assert (It : In t0 ts) by (rewrite Ts; now left).
        apply (at_instants_ before Or Mi old newer a k (hd 0 ts) eq_refl) with (ts := ts) (rs := []).
        - eapply Forall_impl; [|exact Ne]; intros e He; cbn in He.
          pose proof (hd_of_interval (looked_own l) (own s [p] a) t0 It) as H; fold ts in H; lia.
        - apply interval_nodup.
        - intros t Ht; now apply St.
        - eapply Forall_impl; [|exact Me]; intros one (n & Nn & Ln & _); exists n; split; [assumption|].
          intros t Ht; apply St in Ht; lia. }
      destruct Fi as (m' & -> & M').
      unfold by_instant; rewrite all_in_a_gap.
      destruct (visit_is before a k ts (fun t Ht => proj1 (St t Ht)) x y) as (x' & y' & ->).
      rewrite map_app, map_map; f_equal.
      assert (Eb : before' = before ++ match element a with Some e => [e] | None => [] end)
        by (unfold before'; destruct (element a); [reflexivity|now rewrite app_nil_r]).
      rewrite Eb in *; apply IH; try assumption.
      + cbn [looked_own]; unfold is_of_stream in Ga; destruct (element a) as [e|]; [|constructor].
        constructor; [|constructor]; rewrite Ow; destruct Ga; lia.
      + cbn [looked_own]; intros b Hb; rewrite Forall_forall in Sa; specialize (Sa b Hb); rewrite Ow; lia.
      + cbn [looked_own]; rewrite Forall_forall in *; intros one I; destruct (M' one I) as [I'|(n & Nn & _ & Bn)].
        * destruct (Me one I') as (n & Nn & _ & La); exists n; repeat split; [assumption|apply La; now left|intros b Hb; apply La; now right].
        * exists n; repeat split; [assumption|assumption|]; intros b Hb; specialize (Sa b Hb); rewrite Ow in *; lia.
    - assert (Eb : before' = old ++ (newer ++ match element a with Some e => [e] | None => [] end))
        by (unfold before', before; destruct (element a); rewrite ?app_nil_r, ?app_assoc; reflexivity).
      rewrite Eb in *; apply IH; try assumption.
      + apply Forall_app; split; [assumption|]; unfold is_of_stream in Ga; destruct (element a) as [e|]; [|constructor].
        constructor; [|constructor]; destruct Ga as [<- _]; apply Lo; now left.
      + intros b Hb; apply Lo; now right.
      + eapply Forall_impl; [|exact Me]; intros one (n & Nn & Ln & La); exists n; repeat split; [assumption|assumption|].
        intros b Hb; apply La; now right.
  Qed.
End EachWindow.

(** * The law *)

Lemma sort_is_itself {A} (g : A -> A -> bool) xs : StronglySorted (fun a b => g a b = false) xs -> sort g xs = xs.
Proof.
  induction 1 as [|x xs S IH F]; [reflexivity|]; cbn; fold (sort g xs); rewrite IH.
  destruct xs as [|y ys]; cbn; [reflexivity|]; inversion F as [|? ? E]; now rewrite E.
Qed.
Lemma sorted_impl {A} (R R' : A -> A -> Prop) xs : (forall a b, In a xs -> In b xs -> R a b -> R' a b) ->
  StronglySorted R xs -> StronglySorted R' xs.
Proof.
  intros H S; induction S as [|x xs S IH F]; constructor.
  - apply IH; intros a b Ha Hb; apply H; now right.
  - rewrite Forall_forall in *; intros y Hy; apply H; [now left|now right|now apply F].
Qed.
Lemma sorted_end {A} (R : A -> A -> Prop) xs ys : StronglySorted R xs -> StronglySorted R ys ->
  (forall a b, In a xs -> In b ys -> R a b) -> StronglySorted R (xs ++ ys).
Proof.
  intros S T H; induction S as [|x xs S IH F]; cbn; [assumption|]; constructor.
  - apply IH; intros a b Ha Hb; apply H; [now right|assumption].
  - apply Forall_app; split; [assumption|]; rewrite Forall_forall; intros y Hy; apply H; [now left|assumption].
Qed.
Lemma sorted_map {A B} (R : B -> B -> Prop) (g : A -> B) xs :
  StronglySorted (fun a b => R (g a) (g b)) xs -> StronglySorted R (map g xs).
Proof.
  induction 1 as [|x xs S IH F]; cbn; constructor; [assumption|].
  rewrite Forall_forall in *; intros y Hy; apply in_map_iff in Hy as (z & <- & Hz); now apply F.
Qed.

Section Law.
  Variables (s : Semantics) (f : Firings) (q : Query) (all : list Element) (w : Window) (o : Z).
  Let mine := filter (fun e => stream e =? on w) all.
  Hypothesis one : windows q = [w].
  Hypothesis time : kind w = Time.
  Hypothesis no_lag : lag w = 0.
  Hypothesis sizes : 0 < size w /\ 0 < slide s w.
  Hypothesis fits : closure s = Open -> 2 <= size w. (* QRY-5 *)
  Hypothesis placed : origin (place s q all w) = Some o.
  Hypothesis closing : window_close s = true.
  Hypothesis unchanged : content_change s = false.
  Hypothesis all_in_a_gap : missed s = All.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true. (* QRY-5 *)
  Hypothesis none_early : early_count f = None /\ early_period f = None.
  Hypothesis greatest : late_for f = ForStream \/ (late_for f = ForWindow /\ watermark_of f = Greatest /\ watermark_delay f = 0).
  Hypothesis grace : forall d, lateness s = Some d -> 0 <= d.
  Hypothesis ordered : in_order mine.
  Hypothesis named : StronglySorted (fun a b => sys a < sys b) mine. (* MOD-1 *)
  Hypothesis horizon_is_last : forall h e, horizon_of s (windows q) mine = Some h -> In e mine -> app e <= h.

  Lemma sorted_by_app : StronglySorted (fun a b => app a <= app b) mine.
  Proof.
    clear - ordered; induction mine as [|e es IH]; [constructor|]; destruct ordered as [H O].
    constructor; [now apply IH|]; now rewrite Forall_forall.
  Qed.
  Lemma sorted_by_both : StronglySorted (fun a b => app a <= app b /\ sys a < sys b) mine.
  Proof.
    pose proof sorted_by_app as S; clear - S named; induction mine as [|e es IH]; [constructor|].
    inversion S; inversion named; subst; constructor; [now apply IH|]; rewrite Forall_forall in *; auto.
  Qed.
  Lemma admitted_is_mine d : (forall x, d = Some x -> 0 <= x) -> admitted d mine = mine /\ dropped d mine = [].
  Proof.
    intros N; unfold admitted, dropped; rewrite none_is_late; [|destruct d; [now apply N|exact I]|assumption|easy].
    cbn [fst snd]; split; [|reflexivity].
    apply sort_is_itself; eapply sorted_impl; [|exact sorted_by_app]; cbn; intros; lia.
  Qed.
  Lemma of_the_stream (keep : list Element -> list Element) : elements_of q all keep = keep mine.
  Proof. unfold elements_of; rewrite one; cbn; apply app_nil_r. Qed.
  Lemma none_late : admitted (lateness s) mine = mine /\ dropped (lateness s) mine = [].
  Proof. exact (admitted_is_mine (lateness s) grace). Qed.
  Lemma arriving_is_mine : arriving s q all = mine.
  Proof.
    unfold arriving; rewrite of_the_stream, (proj1 none_late).
    apply sort_is_itself; eapply sorted_impl; [|exact sorted_by_both]; cbn.
    intros a b _ _ [A B]; unfold comes_after; lia.
  Qed.
  Lemma all_arrive : arriving_elements s f q all = mine.
  Proof.
    unfold arriving_elements; rewrite !of_the_stream; destruct greatest as [-> | (F & G & _)]; [apply none_late|].
    assert (P : forall e, is_punctuation f e = false) by (intros; unfold is_punctuation; now rewrite F, G).
    rewrite F, filter_all, filter_none by (intros; now rewrite ?P); apply app_nil_r.
  Qed.
  Let arrivals := arrivals_of s q all.
  Lemma arrivals_are_mine : arrivals = map arrival_of mine ++
    match horizon_of s (windows q) mine with
    | None => []
    | Some h => [{| at_ := h; a_sys := maximum (map sys all) 0 + 1; a_batch := maximum (map batch mine) 0 + 1; element := None |}]
    end.
  Proof. unfold arrivals; rewrite arrivals_are, arriving_is_mine; reflexivity. Qed.
  Lemma as_they_came : arrivals_among f q all mine (horizon_of s (windows q) mine) = arrivals.
  Proof.
    rewrite arrivals_are_mine; unfold arrivals_among; cbv zeta.
    assert (E : forall g : Element -> Element -> bool,
              (forall a b, app a <= app b -> sys a < sys b -> g a b = false) -> sort g mine = mine).
    { intros g G; apply sort_is_itself; eapply sorted_impl; [|exact sorted_by_both]; cbn; intros a b _ _ []; now apply G. }
    destruct greatest as [-> | (-> & _)]; rewrite E; try reflexivity; intros a b A B; unfold comes_after; lia.
  Qed.
  Lemma greatest_is_last es : forall e, in_order (e :: es) ->
    match rev (e :: es) with [] => None | x :: _ => Some (app x) end = Some (maximum (map app es) (app e)).
  Proof.
    induction es as [|y ys IH]; intros e O; [reflexivity|]; destruct O as [H O]; specialize (IH y O).
    change (rev (e :: y :: ys)) with (rev (y :: ys) ++ [e]); destruct (rev (y :: ys)) as [|x xs]; [discriminate|].
    cbn [List.app]; rewrite IH; unfold maximum; cbn [map fold_left]; rewrite Z.max_r; [reflexivity|]; apply H; now left.
  Qed.
  Lemma placed_alike : place_among s q mine w = place s q all w.
  Proof.
    unfold place_among, place; fold mine; rewrite (proj1 none_late).
    rewrite (filter_all (fun e => stream e =? on w)) by (intros e He; now apply filter_In in He).
    rewrite time; clear - ordered; destruct mine as [|e es]; [reflexivity|]; cbv zeta.
    rewrite (greatest_is_last es e ordered); cbn [map]; destruct ordered as [H _].
    replace (smallest (map app es) (app e)) with (app e); [reflexivity|]; symmetry.
    unfold smallest; clear - H; induction es as [|x xs IH]; cbn; [reflexivity|].
    rewrite Z.min_l by (apply H; now left); apply IH; intros y Hy; apply H; now right.
  Qed.
  Hypothesis every : reported_windows f = Every.
  (** "Over a stream in order `every` window reports what the `active` one does, whatever the grace, if
      windows decide what is late and there is no delay: for one window of the kind `time`, {close} or
      {close, non-empty}, when a close is reached, all windows of a gap, and ticks by tuple and by time." *)
  Theorem every_is_active :
    reports_among s f q mine (arrivals_among f q all mine (horizon_of s (windows q) mine)) = map (fun r => (r, false)) (reports s q all).
  Proof.
    unfold reports_among, reports; rewrite every, one; cbn [map]; rewrite placed_alike; set (p := place s q all w) in *.
    unfold starts; cbn [flat_map]; unfold s0; rewrite placed; cbn [option_map List.app fold_left].
    rewrite <- one, as_they_came; fold arrivals.
    change (@nil Element) with (@nil Element ++ @nil Element).
    apply (run_is s f p o time no_lag sizes fits placed closing unchanged all_in_a_gap can_trigger none_early greatest grace).
    - exact I.
    - easy.
    - rewrite arrivals_are_mine; apply Forall_app; split.
      + apply Forall_forall; intros a Ha; apply in_map_iff in Ha as (e & <- & He); cbn; split; [reflexivity|].
        apply filter_In in He; change (win p) with w; lia.
      + destruct (horizon_of s (windows q) mine); repeat constructor.
    - rewrite arrivals_are_mine; apply sorted_end.
      + apply sorted_map; exact sorted_by_app.
      + destruct (horizon_of s (windows q) mine); repeat constructor.
      + intros a b Ha Hb; apply in_map_iff in Ha as (e & <- & He).
        destruct (horizon_of s (windows q) mine) as [h|] eqn:H; [destruct Hb as [<-|[]]|easy]; cbn; now apply horizon_is_last.
    - easy.
    - constructor.
    - cbn; intros; lia.
    - constructor.
  Qed.

  (** And their relations, for Rstream (REP-14) and a window without a key. *)
  Hypothesis no_key : by_ w = [].
  Hypothesis rstream : op s q = Rstream.
  Hypothesis unconsumed : consumption s = Unrestricted.
  Hypothesis not_once : empty s <> Once.
  Corollary every_is_active_with_relations answer :
    evaluate_with answer s f q all = map (fun e => (e, false, [])) (evaluate answer s q all).
  Proof.
    unfold evaluate_with, evaluate_by, evaluate; rewrite all_arrive; cbv zeta.
    assert (K : keyed_reports f (reports_among s f) q all mine (horizon_of s (windows q) mine) = map (fun r => (r, false, [])) (reports s q all)).
    { unfold keyed_reports; rewrite one; cbn [filter]; unfold is_keyed; rewrite no_key; rewrite <- one, every_is_active; apply map_map. }
    rewrite K, every, as_they_came, !of_the_stream, (proj2 none_late); fold arrivals.
    replace (match late_for f with ForStream => [] | _ => [] end) with (@nil Element) by now destruct (late_for f).
    assert (A : forall es cs, answer_over answer s q [] cs = answer_over answer s q es cs)
      by (intros; unfold answer_over; now rewrite unconsumed).
    enough (G : forall rs es b last kept, outputs answer s q es b last kept rs =
              map (fun r => (r, answer_over answer s q [] (holding r)))
                  (filter (fun r => emits (empty s) (answer_over answer s q [] (holding r)) []) rs)).
    { rewrite G, !map_map; generalize (reports s q all); intros rs.
      induction rs as [|r rs IH]; cbn [map filter]; [reflexivity|]; cbn [fst snd] in *.
      destruct (emits (empty s) (answer_over answer s q [] (holding r)) []); cbn [map fst snd]; now rewrite IH. }
    induction rs as [|r rs IH]; intros; cbn [outputs filter]; [reflexivity|]; cbv zeta.
    rewrite rstream; cbn [relate]; rewrite IH, <- (A es (holding r)).
    assert (E : forall last, emits (empty s) (answer_over answer s q [] (holding r)) last =
                             emits (empty s) (answer_over answer s q [] (holding r)) [])
      by (intros; destruct (empty s); [reflexivity|reflexivity|easy]).
    rewrite (E last); now destruct (emits (empty s) (answer_over answer s q [] (holding r)) []).
  Qed.
End Law.
