(** The law "Simultaneous arrivals" of docs/laws.md, for all queries. *)
From Coq Require Import ZArith List Bool Lia Permutation.
From RefEngine Require Import Definitions R2S Choices Rearranged.
Import ListNotations.
Open Scope Z_scope.

(** * Contents of the same elements *)

Definition mine (w : Window) (es : list Element) : list Element := filter (fun e => stream e =? on w) es.
Definition by_time (w : Window) : Prop :=
  match kind w with Time | Range | Now | Unbounded | Landmark => True | _ => False end.
(** An element without a place. *)
Definition bare (x : What) : Element :=
  let '(n, a, u, g) := x in {| stream := n; app := a; until := u; sys := 0; batch := 0; graph := g |}.
Lemma graphs_of es : flat_map graph es = flat_map snd (map what es).
Proof. induction es; cbn; congruence. Qed.

Section Simultaneous.
  Variables (s : Semantics) (es es' : list Element).
  Hypothesis same_whats : Permutation (map what es) (map what es').
  Hypothesis named : forall w, NoDup (map sys (mine w es)) /\ NoDup (map sys (mine w es')).
  Lemma mine_whats w : Permutation (map what (mine w es)) (map what (mine w es')).
  Proof.
    pose (of_n := fun x : What => fst (fst (fst x)) =? on w).
    unfold mine; change (fun e => stream e =? on w) with (fun e => of_n (what e)).
    rewrite (map_filter of_n what es), (map_filter of_n what es'); now apply filter_perm.
  Qed.
  (** Two contents hold what is the same. *)
  Definition alike (w : Window) (c c' : Content) : Prop := exists P : What -> bool,
    c = filter (fun e => P (what e)) (mine w es) /\ c' = filter (fun e => P (what e)) (mine w es').
  Lemma alike_nothing w : alike w [] [].
  Proof. exists (fun _ => false); now rewrite !filter_none. Qed.
  Lemma alike_what w c c' : alike w c c' -> Permutation (map what c) (map what c').
  Proof. intros (P & -> & ->); rewrite !map_filter; apply filter_perm, mine_whats. Qed.
  Lemma same_sys l (P Q : What -> bool) : NoDup (map sys l) ->
    same_list (map sys (filter (fun e => P (what e)) l)) (map sys (filter (fun e => Q (what e)) l)) =
    forallb (fun x => eqb (P x) (Q x)) (map what l).
  Proof.
    intros N; rewrite forallb_map; apply eq_true_iff_eq; unfold same_list.
    destruct (list_eq_dec Z.eq_dec _ _) as [E|E]; split; auto; try easy.
    - intros _; apply forallb_forall; intros e He; apply eqb_true_iff.
      assert (G : forall P Q : What -> bool, P (what e) = true ->
        map sys (filter (fun e => P (what e)) l) = map sys (filter (fun e => Q (what e)) l) -> Q (what e) = true).
      { clear E P Q; intros P Q Pe E; assert (I : In (sys e) (map sys (filter (fun e => Q (what e)) l)))
          by (rewrite <- E; apply in_map, filter_In; auto).
        apply in_map_iff in I as (x & X & Hx); apply filter_In in Hx as [Hx Qx]; now rewrite <- (named_once sys l x e N Hx He X). }
      apply eq_true_iff_eq; split; [intros H; now apply (G P Q)|intros H; now apply (G Q P)].
    - intros F; exfalso; apply E; f_equal; apply filter_ext_in; intros e He; rewrite forallb_forall in F; now apply eqb_prop, F.
  Qed.
  Lemma alike_sys w a a' c c' : alike w a a' -> alike w c c' ->
    same_list (map sys a) (map sys c) = same_list (map sys a') (map sys c').
  Proof.
    intros (P & -> & ->) (Q & -> & ->); destruct (named w); rewrite !same_sys by assumption; apply forallb_perm, mine_whats.
  Qed.
  Lemma subset_perm xs xs' ys ys' : Permutation xs xs' -> Permutation ys ys' -> subset xs ys = subset xs' ys'.
  Proof.
    intros P Q; unfold subset; rewrite (forallb_perm _ _ _ P); clear P; induction xs' as [|x xs' IH]; cbn; [reflexivity|].
    now rewrite IH, (existsb_perm _ _ _ Q).
  Qed.
  Lemma alike_graphs w c c' : alike w c c' -> Permutation (flat_map graph c) (flat_map graph c').
  Proof. intros A; rewrite !graphs_of; apply Permutation_flat_map, (alike_what w), A. Qed.
  Lemma alike_differs w a a' c c' : alike w a a' -> alike w c c' -> differs s a c = differs s a' c'.
  Proof.
    intros A C; unfold differs; rewrite (alike_sys w a a' c c' A C).
    pose proof (alike_graphs _ _ _ A) as G; pose proof (alike_graphs _ _ _ C) as H; cbv zeta.
    now rewrite (subset_perm _ _ _ _ G H), (subset_perm _ _ _ _ H G).
  Qed.
  Lemma alike_is_empty w c c' : alike w c c' -> match c with [] => true | _ => false end = match c' with [] => true | _ => false end.
  Proof. intros A; apply alike_what in A; apply Permutation_length in A; rewrite !map_length in A; now destruct c, c'. Qed.
  Lemma alike_still w a a' c c' : alike w a a' -> alike w c c' -> alike w (still_there a c) (still_there a' c').
  Proof.
    intros (P & -> & ->) (Q & -> & ->); exists (fun x => P x && Q x); destruct (named w) as [N N'].
    assert (G : forall l, NoDup (map sys l) ->
      still_there (filter (fun e => P (what e)) l) (filter (fun e => Q (what e)) l) = filter (fun e => P (what e) && Q (what e)) l).
    { clear; intros l N; unfold still_there; rewrite filter_filter; apply filter_ext_in; intros e He; f_equal.
      apply eq_true_iff_eq; rewrite existsb_exists; split.
      - intros (n & Hn & E); apply Z.eqb_eq in E as <-; apply in_map_iff in Hn as (x & X & Hx); apply filter_In in Hx as [Hx Qx].
        now rewrite <- (named_once sys l x e N Hx He X).
      - intros Qe; exists (sys e); split; [apply in_map, filter_In; auto|lia]. }
    now rewrite !G.
  Qed.

  (** Windows that are placed in the same way. *)
  Definition same_placed (p p' : Placed) : Prop :=
    win p' = win p /\ origin p' = origin p /\ t1 p' = t1 p /\ by_time (win p).
  Variables ps ps' : list Placed.
  Hypothesis placed : Forall2 same_placed ps ps'.
  Lemma placed_current p p' t : same_placed p p' -> current s p' t = current s p t.
  Proof. destruct p, p'; intros (W & O & _ & _); cbn in W, O; subst; reflexivity. Qed.
  Lemma placed_timely p p' o t : same_placed p p' -> timely s o t p' = timely s o t p.
  Proof. destruct p, p'; intros (W & O & T & _); cbn in W, O, T; subst; reflexivity. Qed.
  Lemma placed_borders p p' t : same_placed p p' -> borders s p' t = borders s p t.
  Proof. destruct p, p'; intros (W & O & T & _); cbn in W, O, T; subst; reflexivity. Qed.
  (** What has arrived when an instant is looked at: all before it. *)
  Definition until_then (T : Z) (l : list Element) : list Element := filter (fun e => app e <? T) l.
  Lemma placed_content p p' t T : same_placed p p' ->
    alike (win p) (content s p t (until_then T es)) (content s p' t (until_then T es')).
  Proof.
    intros Sp; pose proof (placed_current p p' t Sp) as C; destruct Sp as (W & O & _ & K); unfold content; rewrite C, W, O.
    destruct (origin p) as [o|]; [|apply alike_nothing]; destruct (current s p t) as [n|]; [|apply alike_nothing].
    exists (fun x => (app (bare x) <? T) && meets s p o n t (bare x)); unfold mine, until_then.
    assert (G : forall q, win q = win p -> forall l, filter (meets s q o n t) (filter (fun e => stream e =? on (win p)) (filter (fun e => app e <? T) l)) =
                filter (fun e => (app (bare (what e)) <? T) && meets s p o n t (bare (what e))) (filter (fun e => stream e =? on (win p)) l)).
    { intros q Wq l; rewrite !filter_filter; apply filter_ext; intros e.
      assert (M : meets s q o n t e = meets s p o n t (bare (what e))).
      { unfold meets, clipped_first, begins, ends, first_instant, last_instant; rewrite Wq; unfold by_time in K.
        now destruct (kind (win p)). }
      rewrite M; cbn [app bare what]; now destruct (app e <? T), (stream e =? on (win p)), (meets _ _ _ _ _ _). }
    unfold by_time in K; destruct (kind (win p)); try easy; split; auto.
  Qed.

  Fixpoint all_alike (ws : list Placed) (cs cs' : list Content) : Prop :=
    match ws, cs, cs' with
    | [], [], [] => True
    | p :: ws, c :: cs, c' :: cs' => alike (win p) c c' /\ all_alike ws cs cs'
    | _, _, _ => False
    end.
  Definition memory_alike (m m' : Memory) : Prop :=
    all_alike ps (reported m) (reported m') /\ all_alike ps (previous m) (previous m').
  Definition report_alike (r r' : Report) : Prop :=
    at_instant r = at_instant r' /\ arrival r = arrival r' /\ shown r = shown r' /\ all_alike ps (holding r) (holding r').
  Lemma alike_contents t T : all_alike ps (contents s ps t (until_then T es)) (contents s ps' t (until_then T es')).
  Proof. pose proof placed as F; clear placed; induction F as [|p p' qs qs' H F IH]; cbn; [trivial|split; [now apply placed_content|apply IH]]. Qed.
  Lemma alike_report_at t k T : report_alike (report_at s ps t k (until_then T es)) (report_at s ps' t k (until_then T es')).
  Proof.
    unfold report_alike, report_at; cbn; repeat split; [|apply alike_contents].
    pose proof placed as F; clear placed; induction F as [|p p' qs qs' H F IH]; cbn; [reflexivity|]; now rewrite IH, (placed_borders p p').
  Qed.
  Lemma alike_states own t T cs cs' : all_alike ps cs cs' ->
    map (fun x => (win (fst x), timely s own t (fst x) && worthy s t (until_then T es) (fst x) (snd x))) (combine ps cs) =
    map (fun x => (win (fst x), timely s own t (fst x) && worthy s t (until_then T es') (fst x) (snd x))) (combine ps' cs').
  Proof.
    revert cs cs'; pose proof placed as F; clear placed; induction F as [|p p' qs qs' H F IH]; intros [|c cs] [|c' cs'] A; cbn in *; try easy.
    destruct A as [A As]; rewrite (IH cs cs' As); f_equal; pose proof (placed_content p p' t T H) as C.
    pose proof (proj1 H) as W; rewrite W, (placed_timely p p' own t H); do 2 f_equal; unfold worthy, has_scope.
    rewrite (placed_current p p' t H), (alike_differs (win p) _ _ c c' C A); now rewrite (alike_is_empty (win p) _ _ C).
  Qed.
  Lemma alike_visit own k T ts : forall m m', memory_alike m m' ->
    Forall2 report_alike (fst (visit s ps (until_then T es) own k ts m)) (fst (visit s ps' (until_then T es') own k ts m')) /\
    memory_alike (snd (visit s ps (until_then T es) own k ts m)) (snd (visit s ps' (until_then T es') own k ts m')).
  Proof.
    induction ts as [|t ts IH]; intros m m' M; cbn [visit]; [split; [constructor|assumption]|].
    assert (Co : all_alike ps (compared_with s m) (compared_with s m')) by (unfold compared_with; destruct (baseline s); apply M).
    rewrite <- (alike_states own t T _ _ Co); set (ok := fires s _); cbv zeta; pose proof (alike_contents t T) as C.
    match goal with |- context [visit s ps _ own k ts ?x] => match goal with |- context [visit s ps' _ own k ts ?y] =>
      specialize (IH x y); destruct (visit s ps (until_then T es) own k ts x), (visit s ps' (until_then T es') own k ts y) end end.
    cbn in IH; destruct IH as [F M']; [|destruct ok; cbn; split; auto; constructor; auto using alike_report_at].
    split; [|exact C]; cbn; destruct (match missed s with All => ok | Latest => false end); [exact C|apply M].
  Qed.
  Lemma alike_by_instant own k T ts m m' : memory_alike m m' ->
    Forall2 report_alike (fst (by_instant s ps (until_then T es) own k ts m)) (fst (by_instant s ps' (until_then T es') own k ts m')) /\
    memory_alike (snd (by_instant s ps (until_then T es) own k ts m)) (snd (by_instant s ps' (until_then T es') own k ts m')).
  Proof.
    intros M; unfold by_instant; destruct (alike_visit own k T ts m m' M) as [F N].
    destruct (visit s ps _ own k ts m) as [rs x], (visit s ps' _ own k ts m') as [rs' x']; cbn in F, N.
    destruct (missed s); [split; assumption|]; pose proof (Forall2_rev_of _ _ _ F) as R.
    destruct R as [|r r' ? ? Rr _]; [split; assumption|]; cbn; split; [constructor; [assumption|constructor]|].
    split; cbn; [apply Rr|apply N].
  Qed.
  Lemma placed_interval start since now : interval s ps' start since now = interval s ps start since now.
  Proof.
    unfold interval; replace (moves s ps' now) with (moves s ps now); [reflexivity|]; unfold moves.
    pose proof placed as F; clear placed; induction F as [|p p' qs qs' H F IH]; cbn [existsb]; [reflexivity|]; rewrite IH, !(placed_current p p' _ H); now destruct H as (-> & _).
  Qed.
  Lemma placed_own a a' : at_ a = at_ a' -> own s ps' a' = own s ps a.
  Proof.
    intros A; destruct placed as [|p p' qs qs' (W & _ & _ & K) F]; cbn; rewrite A; [reflexivity|]; rewrite W; unfold by_time in K.
    now destruct (kind (win p)).
  Qed.
  Lemma no_tuples : first_is_tuple ps = false /\ first_is_tuple ps' = false.
  Proof.
    destruct placed as [|p p' qs qs' (W & _ & _ & K) F]; cbn; [easy|]; rewrite W; unfold by_time in K; now destruct (kind (win p)).
  Qed.

  (** Only complete instants are looked at. *)
  Hypothesis complete_instants : tick s = TimeTick.
  Hypothesis in_order : rising (map app es).
  Hypothesis same_apps : map app es = map app es'.
  Definition sentinels (tail tail' : list Arrival) : Prop := tail = [] /\ tail' = [] \/
    exists a a', tail = [a] /\ tail' = [a'] /\ at_ a = at_ a' /\ element a = None /\ element a' = None.
  Lemma arrived_before b rest looked T : rising (map app (b ++ rest)) -> (forall e, In e b -> app e <= looked) -> looked < T ->
    (forall e, In e rest -> T <= app e) -> until_then T (b ++ rest) = b.
  Proof.
    intros R B L A; unfold until_then; rewrite filter_app, (filter_every _ b), filter_none, app_nil_r; [reflexivity| |].
    - intros e He; specialize (A e He); lia.
    - intros e He; specialize (B e He); lia.
  Qed.
  Lemma rising_from b e rest : rising (map app (b ++ e :: rest)) -> forall x, In x (e :: rest) -> app e <= app x.
  Proof.
    induction b as [|y b IH]; cbn; intros [R Rs]; [|now apply IH]; intros x [->|H]; [lia|]; now apply R, in_map.
  Qed.
  Lemma same_bound (b b' : list Element) n : map app b = map app b' -> (forall e, In e b -> app e <= n) -> forall e, In e b' -> app e <= n.
  Proof. intros E B e He; apply (in_map app) in He; rewrite <- E in He; apply in_map_iff in He as (x & <- & Hx); auto. Qed.
  Lemma alike_run start tail tail' : sentinels tail tail' -> forall rest rest' b b' l l' m m' k,
    b ++ rest = es -> b' ++ rest' = es' -> map app b = map app b' -> map app rest = map app rest' -> memory_alike m m' ->
    looked_app l = looked_app l' -> looked_own l = looked_own l' -> (forall e, In e b -> app e <= looked_app l) ->
    Forall2 report_alike (run s ps start b l m k (map arrival_of rest ++ tail)) (run s ps' start b' l' m' k (map arrival_of rest' ++ tail')).
  Proof.
    intros S; induction rest as [|e rest IH]; intros [|e' rest'] b b' l l' m m' k B B' Ab Ar M La Lo Bo; try discriminate.
    - rewrite app_nil_r in B, B'; subst b b'; cbn [map List.app]; destruct S as [[-> ->]|(a & a' & -> & -> & A & E & E')]; cbn [run]; [constructor|].
      unfold is_due; rewrite complete_instants, <- A, <- La; destruct (looked_app l <? at_ a) eqn:D; [|constructor].
      destruct no_tuples as [-> ->]; rewrite (placed_own a a' A), placed_interval, <- Lo.
      assert (U : until_then (at_ a) es = es /\ until_then (at_ a) es' = es').
      { pose proof (same_bound _ _ _ Ab Bo); split; apply filter_every; intros x Hx; [specialize (Bo x Hx)|specialize (H x Hx)]; lia. }
      set (ts := interval _ _ _ _ _); destruct (alike_by_instant (own s ps a) k (at_ a) ts m m' M) as [F _].
      destruct U as [U U']; rewrite U, U' in F.
      destruct (by_instant s ps _ _ _ _ _), (by_instant s ps' _ _ _ _ _); cbn in *; rewrite !app_nil_r; assumption.
    - cbn in Ar; injection Ar as Ae Ar; cbn [map List.app run]; unfold is_due; rewrite complete_instants; cbn [at_ element arrival_of].
      rewrite <- Ae, <- La; destruct (looked_app l <? app e) eqn:D.
      + destruct no_tuples as [-> ->]; rewrite (placed_own (arrival_of e) (arrival_of e')) by exact Ae; rewrite placed_interval, <- Lo.
        assert (U : until_then (app e) es = b /\ until_then (app e) es' = b').
        { apply Z.ltb_lt in D; pose proof (same_bound _ _ _ Ab Bo) as Bo'; pose proof in_order as R; pose proof in_order as R'.
          rewrite <- B in R; rewrite same_apps, <- B' in R'; rewrite <- B, <- B'.
          split; apply (arrived_before _ _ (looked_app l)); auto; [exact (rising_from _ _ _ R)|rewrite Ae; exact (rising_from _ _ _ R')]. }
        set (ts := interval _ _ _ _ _); destruct (alike_by_instant (own s ps (arrival_of e)) k (app e) ts m m' M) as [F N].
        destruct U as [U U']; rewrite U, U' in F, N.
        destruct (by_instant s ps b _ _ _ _) as [rs x], (by_instant s ps' b' _ _ _ _) as [rs' x']; cbn in F, N.
        apply Forall2_app; [assumption|]; apply IH; cbn; rewrite ?map_app; cbn; rewrite <- ?app_assoc; cbn; try congruence; auto.
        intros y Hy; apply in_app_iff in Hy as [Hy|[<-|[]]]; [specialize (Bo y Hy)|]; lia.
      + apply IH; rewrite ?map_app; cbn; rewrite <- ?app_assoc; cbn; try congruence; auto.
        intros y Hy; apply in_app_iff in Hy as [Hy|[<-|[]]]; [auto|lia].
  Qed.
End Simultaneous.

Lemma all_whats es es' : Permutation (map what es) (map what es') -> forall ps cs cs', all_alike es es' ps cs cs' ->
  Forall2 (fun c c' => Permutation (map what c) (map what c')) cs cs'.
Proof.
  intros P; induction ps as [|p qs IH]; intros [|c cs] [|c' cs'] A; cbn in A; try easy; constructor; [|now apply IH].
  now apply (alike_what es es' P (win p)).
Qed.

(** * Outputs *)

Section Outputs.
  Variables (s : Semantics) (q : Query) (answer : list Quad -> Bag) (es es' all all' : list Element) (ps : list Placed).
  (** A body is a function of a set of quads. *)
  Hypothesis of_a_set : forall d d', Permutation d d' -> same_bag (answer d) (answer d').
  Hypothesis none_consumed : consumption s = Unrestricted.
  Hypothesis same_whats : Permutation (map what es) (map what es').
  Hypothesis named : forall w, NoDup (map sys (mine w es)) /\ NoDup (map sys (mine w es')).
  Hypothesis windows_of : map win ps = windows q.
  Lemma same_dataset cs cs' : all_alike es es' ps cs cs' -> Permutation (dataset q cs) (dataset q cs').
  Proof.
    intros A; apply NoDup_Permutation; [apply NoDup_nodup|apply NoDup_nodup|].
    intros x; unfold dataset; rewrite !nodup_In.
    enough (P : Permutation (flat_map (fun x => map (fun g => (g, name (fst x))) (flat_map graph (snd x))) (combine (windows q) cs))
                            (flat_map (fun x => map (fun g => (g, name (fst x))) (flat_map graph (snd x))) (combine (windows q) cs'))).
    { rewrite !in_app_iff; split; (intros [H|H]; [tauto|right]); [|apply Permutation_sym in P]; now apply (Permutation_in _ P). }
    rewrite <- windows_of; clear windows_of x; revert cs cs' A; induction ps as [|p qs IH]; intros [|c cs] [|c' cs'] A; cbn in *; try easy.
    destruct A as [A As]; apply Permutation_app; [|now apply IH].
    apply Permutation_map, (alike_graphs es es' same_whats (win p)), A.
  Qed.
  Lemma same_collect c a b : same_bag a b -> same_bag (collect c a) (collect c b).
  Proof.
    intros H; destruct c; [exact H|]; apply perm_same_bag, NoDup_Permutation; [apply NoDup_nodup|apply NoDup_nodup|].
    intros r; cbn; rewrite !nodup_In, !in_count; now rewrite (H r).
  Qed.
  Lemma same_answer cs cs' : all_alike es es' ps cs cs' ->
    same_bag (answer_over answer s q all cs) (answer_over answer s q all' cs').
  Proof. intros A; unfold answer_over; rewrite none_consumed; now apply same_collect, of_a_set, same_dataset. Qed.
  Lemma same_is_empty a b : same_bag a b -> is_empty a = is_empty b.
  Proof.
    intros H; apply eq_true_iff_eq; rewrite !is_empty_iff; split; intros E r; [rewrite <- H|rewrite H]; apply E.
  Qed.
  Lemma all_still cs cs' ks ks' : all_alike es es' ps cs cs' -> all_alike es es' ps ks ks' ->
    all_alike es es' ps (map (fun x => still_there (fst x) (snd x)) (combine cs ks))
                        (map (fun x => still_there (fst x) (snd x)) (combine cs' ks')).
  Proof.
    clear windows_of; revert cs cs' ks ks'; induction ps as [|p qs IH]; intros [|c cs] [|c' cs'] [|k ks] [|k' ks'] A K; cbn in *; try easy.
    split; [apply (alike_still es es' named (win p)); [apply A|apply K]|apply IH; [apply A|apply K]].
  Qed.
  Lemma same_outputs rs rs' : Forall2 (report_alike es es' ps) rs rs' -> forall b b' la la' ks ks',
    same_bag b b' -> same_bag la la' -> all_alike es es' ps ks ks' ->
    Forall2 (fun x y => report_alike es es' ps (fst x) (fst y) /\ same_bag (snd x) (snd y))
      (outputs answer s q all b la ks rs) (outputs answer s q all' b' la' ks' rs').
  Proof.
    induction 1 as [|r r' rs rs' R F IH]; intros b b' la la' ks ks' B L K; cbn [outputs]; [constructor|]; cbv zeta.
    pose proof R as (_ & _ & _ & Ho); pose proof (same_answer _ _ Ho) as A.
    set (a := answer_over answer s q all (holding r)) in *; set (a' := answer_over answer s q all' (holding r')) in *.
    pose proof (same_bag_more _ _ _ _ A B) as New.
    match goal with |- context [relate (op s q) a b ?x] => match goal with |- context [relate (op s q) a' b' ?y] =>
      assert (O : same_bag (relate (op s q) a b x) (relate (op s q) a' b' y)) end end.
    { destruct (op s q); cbn [relate]; [exact A|exact New|now apply same_bag_more|].
      apply same_bag_more; [exact A|]; now apply same_answer, all_still. }
    match type of O with same_bag ?x ?y => set (o := x) in *; set (o' := y) in * end.
    assert (E : emits (empty s) o la = emits (empty s) o' la')
      by (unfold emits; now rewrite (same_is_empty _ _ O), (same_is_empty _ _ L)).
    assert (Re : same_bag (rebase (base s) b a) (rebase (base s) b' a')).
    { destruct (base s); cbn [rebase]; [exact A|]; rewrite (same_is_empty _ _ New); now destruct (is_empty _). }
    specialize (IH _ _ _ _ _ _ Re O Ho); rewrite E; destruct (emits _ o' la'); [constructor; auto|assumption].
  Qed.
End Outputs.

(** * The law *)

(** What is emitted is the same, but for the order in which a content lists its elements, and their places. *)
Definition same_but_order (e e' : Emitted) : Prop :=
  at_instant (report e) = at_instant (report e') /\ arrival (report e) = arrival (report e') /\
  shown (report e) = shown (report e') /\
  Forall2 (fun c c' => Permutation (map what c) (map what c')) (holding (report e)) (holding (report e')) /\
  triggered_by e = triggered_by e' /\ stamped e = stamped e' /\ late e = late e' /\ same_bag (rows e) (rows e').
(** MOD-1: [sys] names an element of a stream. *)
Definition sys_names (all : list Element) : Prop := forall n, NoDup (map sys (filter (fun e => stream e =? n) all)).

(** What lateness, order and streams are decided by. *)
Definition kept (a b : Element) : Prop := app a = app b /\ stream a = stream b /\ sys a = sys b.
Lemma kept_in_place all all' : rearranged true all all' -> Forall2 kept all all'.
Proof.
  induction 1 as [|run run' rest rest' t A O P Pl R IH]; [constructor|]; apply Forall2_app; [|assumption].
  destruct (O eq_refl) as [n N]; pose proof (run_app _ _ _ A P) as A'.
  assert (N' : forall e, In e run' -> stream e = n)
    by (intros e He; destruct (in_what _ _ _ P He) as (x & Hx & E); injection E as <- _ _ _; auto).
  clear P O R IH; revert run' Pl A' N'; induction run as [|x run IH]; intros [|y run'] Pl A' N'; try discriminate; constructor.
  - injection Pl as S _ _; unfold kept; rewrite (A x), (A' y), (N x), (N' y) by (now left); auto.
  - injection Pl as _ _ Pl; apply IH; auto; intros; [apply A|apply N|apply A'|apply N']; now right.
Qed.

Section Law.
  (** "Under the time tick simultaneous elements that arrive one after another, of one stream, or of several if none
      is late, can arrive in any other order among themselves: nothing changes but the order in which a content lists
      them. For windows of the kinds `time`, `range`, `now`, `unbounded` and `landmark`, where no element is
      consumed." *)
  Variables (s : Semantics) (q : Query) (all all' : list Element) (alone : bool).
  Hypothesis time_tick : tick s = TimeTick.
  Hypothesis another_order : rearranged alone all all'.
  Hypothesis or_none_is_late : alone = true \/ elements_of q all (dropped (lateness s)) = [].
  Hypothesis kinds : forall w, In w (windows q) -> by_time w.
  Hypothesis none_consumed : consumption s = Unrestricted.
  Hypothesis bound : match lateness s with Some d => 0 <= d | None => True end.
  Hypothesis named : sys_names all /\ sys_names all'.
  Let es := arriving s q all.
  Let es' := arriving s q all'.
  Let of n (xs : list Element) := filter (fun e => stream e =? n) xs.

  Lemma of_stream n : blocks (fst (split_late (lateness s) [] (of n all))) (fst (split_late (lateness s) [] (of n all'))) /\
    blocks (snd (split_late (lateness s) [] (of n all))) (snd (split_late (lateness s) [] (of n all'))).
  Proof. apply blocks_split; [exact bound|exact (blocks_of alone all all' n another_order)|constructor]. Qed.
  Lemma admitted_apps n : map app (admitted (lateness s) (of n all)) = map app (admitted (lateness s) (of n all')).
  Proof.
    pose proof (blocks_same_app _ _ (proj1 (of_stream n))) as F.
    apply (sort_alike _ (fun a b => app b <? app a)) in F; [|now intros a b a' b' -> ->].
    unfold admitted; induction F as [|x y xs ys H F IH]; cbn; congruence.
  Qed.
  Lemma same_elements : Permutation (map what es) (map what es').
  Proof.
    unfold es, es', arriving; etransitivity; [apply Permutation_map, sort_perm|].
    etransitivity; [|apply Permutation_sym, Permutation_map, sort_perm].
    unfold elements_of; induction (nodup Z.eq_dec (map on (windows q))) as [|n ns IH]; cbn; [constructor|].
    rewrite !map_app; apply Permutation_app; [|assumption]; unfold admitted.
    etransitivity; [apply Permutation_map, sort_perm|]; etransitivity; [|apply Permutation_sym, Permutation_map, sort_perm].
    apply blocks_what, (of_stream n).
  Qed.
  Lemma elements_rise : rising (map app es) /\ rising (map app es').
  Proof. split; apply sort_rises. Qed.
  Lemma same_apps : map app es = map app es'.
  Proof.
    destruct elements_rise; apply rising_once; auto; pose proof same_elements as P.
    apply (Permutation_map (fun x => app (bare x))) in P; rewrite !map_map in P; exact P.
  Qed.
  Lemma names_of xs : sys_names xs -> forall n, NoDup (map sys (of n (arriving s q xs))).
  Proof.
    intros N n; unfold arriving, of at 1.
    rewrite (Permutation_map sys (filter_perm _ _ _ (sort_perm (comes_after (map on (windows q))) (elements_of q xs (admitted (lateness s)))))).
    assert (G : forall ns, NoDup ns -> NoDup (map sys (of n (flat_map (fun m => admitted (lateness s) (of m xs)) ns)))).
    { assert (I : forall m e, In e (admitted (lateness s) (of m xs)) -> stream e = m)
        by (intros m e He; apply Equivalences.in_admitted, filter_In in He; lia).
      intros ns; induction 1 as [|m ns Nm _ IH]; cbn; [constructor|]; unfold of at 1; rewrite filter_app, map_app.
      destruct (Z.eq_dec m n) as [->|Ne].
      - rewrite (filter_every _ (admitted _ _)), (filter_none _ (flat_map _ ns)), app_nil_r.
        + unfold admitted; rewrite (Permutation_map sys (sort_perm _ _)).
          pose proof (split_perm (lateness s) [] (of n xs)) as P; apply (Permutation_map sys) in P; rewrite map_app in P.
          apply Permutation_sym, Permutation_NoDup in P; [|apply N].
          exact (nodup_left _ _ P).
        + intros e He; apply in_flat_map in He as (m & Hm & He); apply I in He; apply Z.eqb_neq; intros E; apply Nm; congruence.
        + intros e He; apply I in He; lia.
      - rewrite (filter_none _ (admitted _ _)); [exact IH|]; intros e He; apply I in He; lia. }
    apply G, NoDup_nodup.
  Qed.
  Lemma both_named w : NoDup (map sys (mine w es)) /\ NoDup (map sys (mine w es')).
  Proof. split; apply names_of, named. Qed.
  Let ps := map (place s q all) (windows q).
  Let ps' := map (place s q all') (windows q).
  Lemma both_placed : Forall2 same_placed ps ps'.
  Proof.
    unfold ps, ps'; pose proof kinds as K; induction (windows q) as [|w ws IH]; cbn; constructor; [|apply IH; intros; apply K; now right].
    specialize (K w (or_introl eq_refl)); pose proof (admitted_apps (on w)) as A; unfold of in A.
    unfold same_placed; cbn [win origin t1 place].
    set (xs := admitted _ (filter _ all)) in *; set (ys := admitted _ (filter _ all')) in *.
    assert (T : match ys with [] => None | e :: _ => Some match kind w with Tuple => lookup (ids_from w 0 ys) (sys e) | _ => app e end end =
                match xs with [] => None | e :: _ => Some match kind w with Tuple => lookup (ids_from w 0 xs) (sys e) | _ => app e end end).
    { unfold by_time in K; destruct xs as [|x xs], ys as [|y ys]; cbn in A; try discriminate; [reflexivity|].
      injection A as -> _; now destruct (kind w). }
    rewrite T; auto.
  Qed.
  Lemma same_starts : starts s ps' = starts s ps.
  Proof.
    unfold starts; pose proof both_placed as F; induction F as [|p p' qs qs' (W & O & _) F IH]; cbn; [reflexivity|].
    rewrite IH; unfold s0, s0_at, first_instant; now rewrite O, W.
  Qed.
  Lemma same_horizon : horizon_of s (windows q) es = horizon_of s (windows q) es'.
  Proof.
    unfold horizon_of; destruct (horizon s); try reflexivity.
    pose proof same_elements as P; apply (Permutation_map (fun x => until (bare x))) in P; rewrite !map_map in P.
    change (fun x => until (bare (what x))) with until in P.
    destruct (map until es) as [|x xs], (map until es') as [|y ys]; [reflexivity|now apply Permutation_nil in P|
      now apply Permutation_sym, Permutation_nil in P|]; now rewrite (maximum_perm _ _ _ _ P).
  Qed.
  Lemma reports_alike : Forall2 (report_alike es es' ps) (reports s q all) (reports s q all').
  Proof.
    unfold reports; fold ps ps'; rewrite same_starts; destruct (starts s ps) as [|x xs]; [constructor|]; cbv zeta.
    rewrite !arrivals_are; fold es es'.
    apply (alike_run s es es' same_elements both_named ps ps' both_placed time_tick (proj1 elements_rise) same_apps); auto using same_apps.
    - rewrite same_horizon; destruct (horizon_of s (windows q) es'); [|now left].
      right; do 2 eexists; repeat split.
    - enough (G : forall qs, all_alike es es' qs (map (fun _ => []) qs) (map (fun _ => []) qs)).
      { assert (L : map (fun _ : Placed => [] : Content) ps' = map (fun _ => []) ps) by (unfold ps, ps'; now rewrite !map_map).
        assert (M : all_alike es es' ps (map (fun _ : Placed => [] : Content) ps) (map (fun _ : Placed => [] : Content) ps'))
          by (rewrite L; apply G).
        split; exact M. }
      intros qs; induction qs as [|p qs IH]; cbn; [trivial|]; split; [apply alike_nothing|assumption].
    - easy.
  Qed.
  Lemma same_ats : map at_ (arrivals_of s q all) = map at_ (arrivals_of s q all').
  Proof.
    rewrite !arrivals_are, !map_app, !map_map; fold es es'; change (fun x => at_ (arrival_of x)) with app.
    rewrite same_apps, same_horizon; now destruct (horizon_of s (windows q) es').
  Qed.

  (** Late elements are counted by arrival. *)
  Lemma kept_of keep : (forall xs ys, Forall2 kept xs ys -> Forall2 kept (keep xs) (keep ys)) -> alone = true ->
    Forall2 kept (elements_of q all keep) (elements_of q all' keep).
  Proof.
    intros K T; unfold elements_of; induction (nodup Z.eq_dec (map on (windows q))) as [|n ns IH]; cbn; [constructor|].
    apply Forall2_app; [|assumption]; apply K, Forall2_filter; [now intros x y (_ & -> & _)|apply kept_in_place; rewrite <- T; exact another_order].
  Qed.
  Lemma kept_sys xs ys : Forall2 kept xs ys -> map sys xs = map sys ys.
  Proof. induction 1 as [|x y xs ys (_ & _ & S) F IH]; cbn; congruence. Qed.
  Lemma same_a_sys : alone = true -> map a_sys (arrivals_of s q all) = map a_sys (arrivals_of s q all').
  Proof.
    intros T; rewrite !arrivals_are, !map_app, !map_map; fold es es'; change (fun x => a_sys (arrival_of x)) with sys.
    assert (R : rearranged true all all') by (rewrite <- T; exact another_order).
    rewrite same_horizon, (kept_sys _ _ (kept_in_place _ _ R)); f_equal; [|now destruct (horizon_of _ _ _)].
    apply kept_sys; unfold es, es', arriving; apply sort_alike.
    - intros a b a' b' (A & St & Sy) (B & Tt & Ty); unfold comes_after; now rewrite A, St, Sy, B, Tt, Ty.
    - apply kept_of; [|assumption]; intros xs ys F; unfold admitted; apply sort_alike; [now intros a b a' b' (-> & _) (-> & _)|].
      now apply split_alike; [intros a b (A & _)| |].
  Qed.
  Lemma same_late n : alone = true \/ elements_of q all (dropped (lateness s)) = [] ->
    length (filter (fun e => sys e <? nth n (map a_sys (arrivals_of s q all)) 0) (elements_of q all (dropped (lateness s)))) =
    length (filter (fun e => sys e <? nth n (map a_sys (arrivals_of s q all')) 0) (elements_of q all' (dropped (lateness s)))).
  Proof.
    intros [T|E].
    - rewrite (same_a_sys T); apply (same_length kept), Forall2_filter.
      + now intros x y (_ & _ & ->).
      + apply kept_of; [|assumption]; intros xs ys F; unfold dropped; now apply split_alike; [intros a b (A & _)| |].
    - rewrite E; replace (elements_of q all' (dropped (lateness s))) with ([] : list Element); [reflexivity|].
      revert E; unfold elements_of; induction (nodup Z.eq_dec (map on (windows q))) as [|m ns IH]; cbn; [reflexivity|].
      intros E; apply app_eq_nil in E as [E E']; rewrite <- (IH E'), app_nil_r.
      pose proof (blocks_what _ _ (proj2 (of_stream m))) as P; unfold of in P; unfold dropped in E |- *; rewrite E in P; cbn in P.
      apply Permutation_nil in P; now destruct (snd (split_late (lateness s) [] (filter (fun e => stream e =? m) all'))).
  Qed.
  Theorem simultaneous_arrivals answer : (forall d d', Permutation d d' -> same_bag (answer d) (answer d')) ->
    Forall2 same_but_order (evaluate answer s q all) (evaluate answer s q all').
  Proof.
    intros Se; unfold evaluate, emitted_of; cbv zeta.
    assert (Ws : map win ps = windows q) by (unfold ps; rewrite map_map; apply map_id).
    assert (No : forall qs, all_alike es es' qs (map (fun _ => []) (map win qs)) (map (fun _ => []) (map win qs)))
      by (intros qs; induction qs as [|p qs IH]; cbn; [trivial|]; split; [apply alike_nothing|assumption]).
    specialize (No ps); rewrite Ws in No.
    pose proof (same_outputs s q answer es es' (elements_of q all (admitted (lateness s))) (elements_of q all' (admitted (lateness s))) ps
      Se none_consumed same_elements both_named Ws _ _ reports_alike [] [] [] [] _ _ (fun _ => eq_refl) (fun _ => eq_refl) No) as F.
    induction F as [|[r b] [r' b'] xs ys [(T & K & Sh & Ho) B] F IH]; cbn [map]; constructor; [|exact IH].
    cbn [fst snd] in *; unfold same_but_order; cbn [report triggered_by stamped late rows].
    rewrite <- K, <- same_ats; repeat split; auto.
    - exact (all_whats es es' same_elements ps _ _ Ho).
    - unfold stamp, border; now rewrite <- K, <- T, same_ats.
    - f_equal; now apply same_late.
  Qed.
End Law.
