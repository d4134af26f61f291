(** "What no stream can tell apart" (docs/laws.md), of one window of the kind [time] over points: periods that are
    closes, change of windows that share no element, change by element and by graph. *)
From Coq Require Import ZArith List Bool Lia.
From RefEngine Require Import Definitions Windows Alike Equivalences Choices OneWindow Single Ticks.
Import ListNotations.
Open Scope Z_scope.

(** Two semantics that place windows alike, whatever else they decide. *)
Definition placing := [Close_; Change_; NonEmpty_; Periodic_; ChangeScope_].
Section Placing.
  Variables (s s' : Semantics) (q : Query) (all : list Element) (w : Window) (o : Z).
  Hypothesis fields : differ_only_in placing s s'.
  Let p := place s q all w.
  Let start := s0_at s p o.
  Hypothesis one : windows q = [w].
  Hypothesis no_tuple : kind w <> Tuple.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis placed : origin p = Some o.
  Let same_fields : t0 s' = t0 s /\ closure s' = closure s /\ slide_choice s' = slide_choice s /\ lateness s' = lateness s /\
    partial s' = partial s /\ close_rule s' = close_rule s /\ expiry_seen s' = expiry_seen s /\ tick s' = tick s /\
    missed s' = missed s /\ trigger s' = trigger s /\ horizon s' = horizon s /\ baseline s' = baseline s.
  Proof. clear - fields; equate fields; repeat split. Qed.
  Lemma placed_itself x : same_window s s' x x.
  Proof.
    destruct same_fields as (E & E1 & E2 & E3 & E4 & _); constructor; try reflexivity.
    - unfold slide; now rewrite E2.
    - now left.
    - unfold least, cut, slide; now rewrite E1, E2, E4.
    - destruct (origin x); [|exact I]; unfold first_instant, last_instant, slide, low, high; now rewrite E1, E2.
  Qed.
  Lemma held_alike t b : content s' p t b = content s p t b.
  Proof.
    destruct same_fields as (E & E1 & E2 & E3 & E4 & _); unfold content.
    rewrite <- (same_current s s' p p t (placed_itself p)); destruct (origin p) as [x|]; [|reflexivity].
    destruct (current s p t) as [n|]; [|reflexivity].
    assert (M : forall e, meets s' p x n t e = meets s p x n t e)
      by (intros; unfold meets, clipped_first, first_instant, last_instant, slide, low, high; now rewrite E1, E2, E4).
    destruct (kind (win p)); try (apply filter_ext, M); [|reflexivity].
    unfold latest_rows, slide; now rewrite E2.
  Qed.
  (** Both machines are the same but for their conditions. *)
  Theorem placed_machines :
    map seen (reports s q all) = map seen_of (go (machine s p start) [] (none_looked start) [] [] 0 (arrivals_of s q all)) /\
    map seen (reports s' q all) = map seen_of (go (machine s' p start) [] (none_looked start) [] [] 0 (arrivals_of s q all)) /\
    (forall a, owns (machine s' p start) a = owns (machine s p start) a) /\
    (forall a b, instants (machine s' p start) a b = instants (machine s p start) a b) /\
    (forall l a, looks (machine s' p start) l a = looks (machine s p start) l a) /\
    (forall a b, compares (machine s' p start) a b = compares (machine s p start) a b) /\
    gap (machine s' p start) = gap (machine s p start).
  Proof.
    destruct same_fields as (E & E1 & E2 & E3 & E4 & E5 & E6 & E7 & E8 & E9 & E10 & E11).
    assert (Pl : place s' q all w = p) by (unfold p, place, origin_of, not_earlier, slide, low, high; now rewrite ?(ltac:(clear - fields; now equate fields) : not_before s' = not_before s), E, E1, E2, E3).
    assert (St : s0_at s' p o = start) by (unfold start, s0_at, first_instant, low, slide; now rewrite E1, E2).
    assert (Ar : arrivals_of s' q all = arrivals_of s q all)
      by (unfold arrivals_of, horizon_of, reach, slide; now rewrite E2, E3, E10).
    split; [now apply one_window|split].
    - pose proof (one_window s' q all w o one no_tuple) as R; cbv zeta in R; rewrite Pl, St, Ar, E9 in R; now apply R.
    - cbn [owns instants looks compares gap machine]; rewrite E8, E11; repeat split; intros.
      + unfold own; now rewrite E1, E5.
      + unfold interval; rewrite E6.
        rewrite (same_moves s s' [p] [p]) by (constructor; [apply placed_itself|constructor]); reflexivity.
      + unfold is_due; now rewrite E7.
  Qed.
End Placing.

(** Two machines that decide alike wherever they look. *)
Section Wherever.
  Variables (M M' : Machine).
  Hypothesis holds_same : forall t b, holds M' t b = holds M t b.
  Hypothesis owns_same : forall a, owns M' a = owns M a.
  Hypothesis instants_same : forall a b, instants M' a b = instants M a b.
  Hypothesis looks_same : forall l a, looks M' l a = looks M l a.
  Hypothesis compares_same : forall a b, compares M' a b = compares M a b.
  Hypothesis gap_same : gap M' = gap M.
  Lemma looks_alike before o ts last prev :
    (forall t c, In t ts -> meets_all M o t before c = meets_all M' o t before c) ->
    look M' before o ts last prev = look M before o ts last prev.
  Proof.
    revert last prev; induction ts as [|t ts IH]; intros last prev H; cbn [look]; [reflexivity|].
    rewrite compares_same, gap_same, !holds_same, <- H by now left.
    rewrite IH by (intros; apply H; now right); reflexivity.
  Qed.
End Wherever.

Section Periods.
  Variables (s s' : Semantics) (q : Query) (all : list Element) (w : Window) (o : Z).
  Hypothesis fields : differ_only_in [Close_; Periodic_] s s'.
  Let p := place s q all w.
  Let start := s0_at s p o.
  Let β := slide s w.
  Hypothesis one : windows q = [w].
  Hypothesis time : kind w = Time.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis placed : origin p = Some o.
  Hypothesis size_is : 0 < size w.
  Hypothesis fits : closure s = Open -> 2 <= size w. (* QRY-5 *)
  (** "`periodic` with period β, anchored where window 0 closes, and window close, under the time tick, for ω < β
      (ω + 1 < β for `[]`)." *)
  Hypothesis period : periodic s = Some (β, AnchorAt (o + size w)) /\ window_close s = false.
  Hypothesis close : periodic s' = None /\ window_close s' = true.
  Hypothesis time_tick : tick s = TimeTick.
  Hypothesis gaps : size w + (match closure s with Closed => 1 | _ => 0 end) < β.
  Let last := last_instant s p o 0.
  Let first := first_instant s p o 0.
  Lemma width_below_slide : last - first + 1 < β /\ first <= last /\ start = first - 1.
  Proof.
    unfold last, first, start, s0_at, last_instant, first_instant, low, high, span; change (win p) with w; rewrite time; cbn.
    destruct (closure s); try (specialize (fits eq_refl)); lia.
  Qed.
  Lemma beats t : is_periodic s p t = ((t - last) mod β =? 0).
  Proof.
    unfold is_periodic; rewrite (proj1 period); unfold border, last, last_instant, high, span; change (win p) with w; rewrite time; cbn.
    f_equal; f_equal; destruct (closure s); lia.
  Qed.
  Lemma beats_are_closes t : start <= t -> is_periodic s p t = closes_at s p t /\ (is_periodic s p t = true -> exists n, 0 <= n /\ t = last + n * β).
  Proof.
    intros St; pose proof width_below_slide as (W & FL & S0); rewrite beats.
    assert (Sb : size w < β) by (destruct (closure s); lia).
    assert (L : least s w = 0).
    { assert (Cw : 0 <= cut s w < β)
        by (unfold cut, span; rewrite time; destruct (closure s); try (specialize (fits eq_refl)); lia).
      unfold least; fold β; rewrite (Z.div_small (cut s w)) by assumption; now destruct (partial s). }
    assert (K : forall k, t = last + k * β -> 0 <= k).
    { intros k Hk; destruct (Z_lt_le_dec k 0); [|assumption]; assert (k * β <= -1 * β) by (apply Z.mul_le_mono_nonneg_r; lia); lia. }
    assert (C : closes_at s p t = ((t - last) mod β =? 0)).
    { unfold closes_at; rewrite placed; change (win p) with w; fold last β; rewrite L.
      unfold last_instant; change (win p) with w; fold β.
      assert (La : o + size w + high s w = last) by (unfold last, last_instant, span; change (win p) with w; rewrite time; lia).
      unfold span; rewrite time.
      pose proof (Z.div_mod (t - last) β ltac:(lia)) as D; pose proof (Z.mod_pos_bound (t - last) β ltac:(lia)).
      set (n := (t - last) / β) in *; specialize (K n); apply eq_true_iff_eq; rewrite andb_true_iff, !Z.eqb_eq, Z.leb_le; nia. }
    split; [congruence|]; intros E; apply Z.eqb_eq in E; exists ((t - last) / β).
    pose proof (Z.div_mod (t - last) β ltac:(lia)) as D; assert (t = last + (t - last) / β * β) by nia; split; [now apply K|assumption].
  Qed.
  Lemma no_move_at_a_close n : 0 <= n -> moves s [p] (last + n * β) = false.
  Proof.
    intros Hn; pose proof width_below_slide as (W & FL & S0); unfold moves; cbn [existsb]; change (win p) with w; rewrite time, orb_false_r.
    unfold current; rewrite placed; unfold current_at; change (win p) with w; rewrite time; fold start.
    assert (0 <= n * β) by (apply Z.mul_nonneg_nonneg; lia).
    replace (last + n * β <? start) with false by lia.
    destruct (last + n * β - 1 <? start); [reflexivity|]; fold last β.
    assert (C : ceil_div (last + n * β - 1 - last) β = ceil_div (last + n * β - last) β)
      by (unfold ceil_div; replace (- (last + n * β - last)) with (- n * β) by lia;
          replace (- (last + n * β - 1 - last)) with (1 + - n * β) by lia;
          rewrite Z.div_add, Z.div_mul, Z.div_small by lia; lia).
    rewrite C; cbn; rewrite Z.eqb_refl; reflexivity.
  Qed.
  Theorem period_of_closes : map seen (reports s q all) = map seen (reports s' q all).
  Proof.
    destruct (placed_machines s s' q all w o ltac:(fewer fields) one ltac:(congruence) can_trigger placed) as (-> & -> & Ow & Iv & Lo & Cm & Gp).
    fold p start in Ow, Iv, Lo, Cm, Gp |- *; f_equal.
    set (M := machine s p start) in *; set (M' := machine s' p start) in *.
    assert (Sh : forall t b, holds M' t b = holds M t b) by (intros; cbn; apply (held_alike s s' q all w o); [fewer fields|exact placed]).
    assert (c_ : exists c, 0 <= c <= 1 /\ forall a, owns M a = at_ a - c).
    { cbn; unfold own; change (win p) with w; rewrite time.
      exists (match close_rule s, closure s with Passed, (RightOpen | Open) => 1 | _, _ => 0 end).
      split; [destruct (close_rule s), (closure s); lia|intros a; destruct (element a), (close_rule s), (closure s); lia]. }
    destruct c_ as (c & Hc & Own).
    assert (Meets : forall since a before t x, In t (instants M since (owns M a)) -> (since = start \/ since < owns M a) ->
      meets_all M (owns M a) t before x = meets_all M' (owns M a) t before x).
    { intros since a before t x Ht Si; pose proof (interval_in s [p] start _ _ _ Ht) as [T1 T2].
      pose proof width_below_slide as (W & FL & S0).
      destruct (beats_are_closes t T1) as [B C].
      assert (Sc : has_scope s p t = true) by now apply (time_has_scope s p o).
      assert (Wo : worthy s t before p x = worthy s' t before p x).
      { unfold worthy, differs; rewrite <- (same_scope s s' p p t (placed_itself s s' ltac:(fewer fields) p)).
        rewrite (held_alike s s' q all w o ltac:(fewer fields) placed).
        assert (E : content_change s' = content_change s /\ non_empty s' = non_empty s /\ change_scope s' = change_scope s)
          by (clear - fields; equate fields; repeat split).
        destruct E as (E1 & E2 & E3); now rewrite E1, E2, E3. }
      cbn; rewrite <- Wo; f_equal; unfold timely.
      rewrite <- (same_scope s s' p p t (placed_itself s s' ltac:(fewer fields) p)), Sc.
      rewrite (proj1 period), (proj2 period), (proj1 close), (proj2 close); cbn.
      assert (Cl : closes_at s' p t = closes_at s p t).
      { assert (E : closure s' = closure s /\ slide_choice s' = slide_choice s /\ partial s' = partial s)
          by (clear - fields; equate fields; repeat split).
        destruct E as (E1 & E2 & E3); unfold closes_at, last_instant, least, cut, slide, high; now rewrite E1, E2, E3. }
      rewrite Cl, !andb_true_r, B, <- (andb_true_r (closes_at s p t)) at 1.
      destruct (closes_at s p t) eqn:Cs; [cbn|reflexivity].
      destruct (C B) as (n & Hn & Tn).
      assert (N : t <> own s [p] a); [|assert (Lt : t < owns M a) by (change (owns M a) with (own s [p] a) in *; lia); symmetry; apply Z.ltb_lt; exact Lt].
      intros Eq; change (instants M) with (interval s [p] start) in Ht; change (owns M a) with (own s [p] a) in *.
      unfold interval in Ht; rewrite filter_In, in_app_iff in Ht; destruct Ht as [[Ht|Ht] _]; [apply in_upto in Ht; lia|].
      rewrite <- Eq in Ht; destruct (since =? t) eqn:Es; cbn [orb] in Ht.
      - apply Z.eqb_eq in Es; change (owns M a) with (own s [p] a) in Si; destruct Si as [Si|Si]; [|lia]; assert (0 <= n * β) by (apply Z.mul_nonneg_nonneg; lia); lia.
      - destruct (expiry_seen s); [easy|]; rewrite Tn, no_move_at_a_close, andb_false_r in Ht by assumption; easy. }
    assert (Go : forall arrivals b l last prev k, (looked_own l = start \/ looked_own l = looked_app l - c) ->
      go M b l last prev k arrivals = go M' b l last prev k arrivals).
    { induction arrivals as [|a rest IH]; intros b l la prev k Kn; cbn [go]; [reflexivity|].
      unfold next; rewrite Lo, !Ow, Iv; destruct (looks M l a) eqn:Due; [|now apply IH].
      assert (Si : looked_own l = start \/ looked_own l < owns M a).
      { destruct Kn as [Kn|Kn]; [now left|right]; change (looks M l a) with (is_due s l a) in Due; unfold is_due in Due; rewrite time_tick in Due; apply Z.ltb_lt in Due; rewrite Own; lia. }
      assert (A : arrive M' b (owns M a) (instants M (looked_own l) (owns M a)) la prev =
                  arrive M b (owns M a) (instants M (looked_own l) (owns M a)) la prev).
      { unfold arrive; rewrite Gp, (looks_alike M M') ; auto; intros t x Ht; now apply (Meets (looked_own l)). }
      rewrite A; destruct (arrive M b _ _ _ _) as [rs m]; f_equal; apply IH; right; cbn; apply Own. }
    apply Go; now left.
  Qed.
End Periods.

(** * Elements that are named by [sys] *)

Section Pieces.
  Variable es : list Element.
  Hypothesis sys_names : forall a b, In a es -> In b es -> sys a = sys b -> a = b.
  (** What is some of the elements, in their order. *)
  Definition piece (c : Content) : Prop := c = filter (fun e => existsb (fun x => sys x =? sys e) c) es.
  Hypothesis no_twice : NoDup es.
  Lemma piece_of before rest f : es = before ++ rest -> piece (filter f before).
  Proof.
    intros E; unfold piece; rewrite E at 1; rewrite filter_app, (filter_none _ rest), app_nil_r.
    - apply filter_ext_in; intros e He; apply eq_true_iff_eq; rewrite existsb_exists; split.
      + intros F; exists e; split; [now apply filter_In|apply Z.eqb_refl].
      + intros (x & Hx & S); apply filter_In in Hx as [Hx F]; apply Z.eqb_eq, sys_names in S;
          [now subst|rewrite E; apply in_app_iff; now left|rewrite E; apply in_app_iff; now left].
    - intros e He; apply not_true_is_false; intros X; apply existsb_exists in X as (x & Hx & S).
      apply filter_In in Hx as [Hx _]; apply Z.eqb_eq, sys_names in S;
        [|rewrite E; apply in_app_iff; now left|rewrite E; apply in_app_iff; now right].
      subst x; rewrite E in no_twice; clear - no_twice Hx He.
      induction before as [|y b IH]; [easy|]; inversion no_twice as [|? ? N D]; subst; destruct Hx as [->|Hx]; [|auto].
      apply N, in_app_iff; now right.
  Qed.
  Lemma piece_nil : piece [].
  Proof. unfold piece; cbn; symmetry; apply filter_none; reflexivity. Qed.
  Lemma pieces_equal c c' : piece c -> piece c' -> (forall e, In e es -> In e c <-> In e c') -> c = c'.
  Proof.
    intros P P' H; rewrite P, P'; apply filter_ext_in; intros e He; apply eq_true_iff_eq; rewrite !existsb_exists.
    assert (I : forall d, piece d -> forall x, In x d -> In x es) by (intros d Pd x Hx; rewrite Pd in Hx; now apply filter_In in Hx).
    split; intros (x & Hx & S); exists x; (split; [|assumption]).
    - apply H; [now apply (I c)|assumption].
    - apply H; [now apply (I c')|assumption].
  Qed.
End Pieces.
Lemma piece_in es c e : piece es c -> In e c -> In e es.
Proof. intros P H; rewrite P in H; now apply filter_In in H. Qed.

(** Both contents of the memory, and each content that is looked at, are pieces. *)
Section ChangeOfWhat.
  Variables (s s' : Semantics) (q : Query) (all : list Element) (w : Window) (o h : Z).
  Hypothesis fields : differ_only_in [ChangeScope_] s s'.
  Let p := place s q all w.
  Let start := s0_at s p o.
  Let es := arriving s q all.
  Hypothesis one : windows q = [w].
  Hypothesis time : kind w = Time.
  Hypothesis can_trigger : trigger s = Explicit -> triggers w = true.
  Hypothesis placed : origin p = Some o.
  Hypothesis sys_names : forall a b, In a es -> In b es -> sys a = sys b -> a = b.
  Hypothesis no_twice : NoDup es.
  (** "Content change by element and by graph, where every element has a triple and none recurs." *)
  Hypothesis by_element : change_scope s = ByElements.
  Hypothesis by_graph : change_scope s' = ByGraph.
  Hypothesis has_triple : forall e, In e es -> graph e <> [].
  Hypothesis none_recurs : forall a b x, In a es -> In b es -> In x (graph a) -> In x (graph b) -> a = b.
  Lemma differ_alike c c' : piece es c -> piece es c' -> differs s' c c' = differs s c c'.
  Proof.
    intros P P'; apply eq_true_iff_eq; rewrite <- !not_false_iff_true; fold (same_as s c c') (same_as s' c c').
    rewrite !same_as_iff, by_element, by_graph; apply not_iff_compat; split.
    - intros [I I']; f_equal; apply (pieces_equal es); auto; intros e He.
      assert (G : forall a b, piece es a -> piece es b -> incl (flat_map graph a) (flat_map graph b) -> In e a -> In e b).
      { intros a b Pa Pb In_ Ha; specialize (has_triple e He); destruct (graph e) as [|x xs] eqn:Ge; [congruence|].
        assert (Hx : In x (flat_map graph b)) by (apply In_, in_flat_map; exists e; split; [assumption|rewrite Ge; now left]).
        apply in_flat_map in Hx as (y & Hy & Hx); rewrite (none_recurs e y x); auto.
        - now apply (piece_in es b).
        - rewrite Ge; now left. }
      split; [apply (G c c')|apply (G c' c)]; auto.
    - intros E.
      assert (c = c'); [|subst; split; apply incl_refl].
      apply (pieces_equal es); auto; intros e He.
      assert (G : forall a b, piece es a -> piece es b -> map sys a = map sys b -> In e a -> In e b).
      { intros a b Pa Pb M Ha; assert (Hs : In (sys e) (map sys b)) by (rewrite <- M; now apply in_map).
        apply in_map_iff in Hs as (y & S & Hy); apply sys_names in S; [now subst|now apply (piece_in es b)|assumption]. }
      split; [apply (G c c')|apply (G c' c)]; auto.
  Qed.
  Theorem change_of_what : map seen (reports s q all) = map seen (reports s' q all).
  Proof.
    destruct (placed_machines s s' q all w o ltac:(fewer fields) one ltac:(congruence) can_trigger placed) as (-> & -> & Ow & Iv & Lo & Cm & Gp).
    fold p start in Ow, Iv, Lo, Cm, Gp |- *; f_equal.
    set (M := machine s p start) in *; set (M' := machine s' p start) in *.
    assert (Sh : forall t b, holds M' t b = holds M t b) by (intros; cbn; apply (held_alike s s' q all w o); [fewer fields|exact placed]).
    assert (Pc : forall t b r, es = b ++ r -> piece es (holds M t b)).
    { intros t b r E; cbn; unfold content; change (win p) with w; destruct (origin p) as [x|]; [|apply piece_nil].
      destruct (current s p t) as [n|]; [|apply piece_nil]; rewrite time.
      assert (F : forall (f g : Element -> bool) xs, filter f (filter g xs) = filter (fun e => g e && f e) xs).
      { clear; intros f g xs; induction xs as [|y xs IH]; cbn; [reflexivity|]; destruct (g y); cbn; now rewrite IH. }
      rewrite F; now apply (piece_of es sys_names no_twice b r). }
    assert (Meets : forall o t b c r, es = b ++ r -> piece es c -> meets_all M' o t b c = meets_all M o t b c).
    { intros ow t b c r E P; specialize (Pc t b r E); cbn in Pc |- *.
      assert (E2 : closure s' = closure s /\ slide_choice s' = slide_choice s /\ partial s' = partial s /\ window_close s' = window_close s /\
                   periodic s' = periodic s /\ content_change s' = content_change s /\ non_empty s' = non_empty s)
        by (clear - fields; equate fields; repeat split).
      destruct E2 as (E1 & E2 & E3 & E4 & E5 & E6 & E7).
      assert (Ti : timely s' ow t p = timely s ow t p).
      { unfold timely; rewrite <- (same_scope s s' p p t (placed_itself s s' ltac:(fewer fields) p)).
        unfold is_periodic, border, closes_at, last_instant, least, cut, slide, high; now rewrite E1, E2, E3, E4, E5. }
      rewrite Ti; f_equal; unfold worthy.
      rewrite <- (same_scope s s' p p t (placed_itself s s' ltac:(fewer fields) p)).
      rewrite (held_alike s s' q all w o ltac:(fewer fields) placed), E6, E7; fold p.
      now rewrite (differ_alike _ _ Pc P). }
    assert (Cp : forall a b, piece es a -> piece es b -> piece es (compares M a b)) by (intros; cbn; now destruct (baseline s)).
    assert (Look : forall b r ow ts last prev, es = b ++ r -> piece es last -> piece es prev ->
      look M' b ow ts last prev = look M b ow ts last prev /\
      Forall (fun x => piece es (snd x)) (fst (look M b ow ts last prev)) /\
      piece es (fst (snd (look M b ow ts last prev))) /\ piece es (snd (snd (look M b ow ts last prev)))).
    { intros b r ow ts; induction ts as [|t ts IH]; intros last prev E P P'; cbn [look]; [repeat split; auto; constructor|].
      rewrite Cm, Gp, !Sh, (Meets ow t b _ r E) by auto.
      set (ok := meets_all M ow t b _); set (l := if match gap M with All => ok | Latest => false end then holds M t b else last).
      assert (Pl : piece es l) by (unfold l; destruct (match gap M with All => ok | Latest => false end); [now apply (Pc t b r)|assumption]).
      destruct (IH l (holds M t b) E Pl (Pc t b r E)) as (-> & F & A & B).
      destruct (look M b ow ts l _) as [rs m]; cbn [fst snd] in *; split; [reflexivity|split; [|split; assumption]].
      destruct ok; [constructor; [cbn; now apply (Pc t b r)|assumption]|assumption]. }
    assert (Arrive : forall b r ow ts last prev, es = b ++ r -> piece es last -> piece es prev ->
      arrive M' b ow ts last prev = arrive M b ow ts last prev /\
      piece es (fst (snd (arrive M b ow ts last prev))) /\ piece es (snd (snd (arrive M b ow ts last prev)))).
    { intros b r ow ts last prev E P P'; destruct (Look b r ow ts last prev E P P') as (A & F & B & C).
      unfold arrive; rewrite A, Gp; destruct (look M b ow ts last prev) as [rs m]; cbn [fst snd] in *.
      destruct (gap M); [repeat split; assumption|]; destruct (rev rs) as [|x ?] eqn:R; [repeat split; assumption|].
      cbn; repeat split; [|assumption]; rewrite Forall_forall in F; apply F, in_rev; rewrite R; now left. }
    assert (Go : forall arrivals b l last prev k, es = b ++ elements_in arrivals -> piece es last -> piece es prev ->
      go M b l last prev k arrivals = go M' b l last prev k arrivals).
    { induction arrivals as [|a rest IH]; intros b l la prev k E P P'; cbn [go]; [reflexivity|].
      assert (E' : es = with_element b a ++ elements_in rest) by (rewrite with_elements; exact E).
      unfold next; rewrite Lo, !Ow, Iv; destruct (looks M l a); [|now apply IH].
      destruct (Arrive b (elements_in (a :: rest)) (owns M a) (instants M (looked_own l) (owns M a)) la prev E P P') as (A & B & C).
      rewrite A; destruct (arrive M b _ _ _ _) as [rs m]; cbn [fst snd] in *; f_equal; now apply IH. }
    apply Go; [|apply piece_nil|apply piece_nil].
    rewrite arrivals_are; fold es; cbn [List.app]; unfold elements_in; rewrite flat_map_app.
    destruct (horizon_of s (windows q) es); cbn; rewrite ?app_nil_r; generalize es; clear; intros xs;
      induction xs as [|x xs IH]; cbn; congruence.
  Qed.
End ChangeOfWhat.
