/**
 * The library API of the lens `chroma` (CQ-001): what one viewer can do with hashtags, nodes (notes with a colour position) and queries.
 * Only nodes that are visible to this viewer can be used; hidden nodes are reported as missing.
 */
import { z } from 'zod'
import type { Json, JsonObject } from '../../base/canonical.ts'
import { QuerentError } from '../../model/errors.ts'
import { isOwner, LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import type { LensHost } from '../lens.ts'
import type { Assignment, NeighboursOf, Target } from './colour/bindings.ts'
import { assignmentsIn, assignStarter, vocabularyForm, vocabularyText } from './colour/bindings.ts'
import type { ChosenTag } from './colour/coordinates.ts'
import { type Migration, migrateHashtag } from './colour/coordinates.ts'
import { tagsInText } from './colour/stack.ts'
import { checkArgument, checkCamel, checkToWire, invalidParameter, retrying, retryingWrite } from './errors.ts'
import { type DecayReport, type LifecycleReport, runDecayCycle, runLifecycleCheck } from './memory/changes.ts'
import type { ModeName } from './memory/formulas.ts'
import {
  type Binding,
  type Color,
  type DetailedAnswer,
  hashtagList,
  type NodeRow,
  type QueryOptions,
  queryInput,
  queryOptions,
  type ResultRow,
  type Warning,
} from './model.ts'
import {
  changeNode,
  entryId as checkedId,
  chooseTags,
  type DocumentToImport,
  deleteNode,
  documentToImport,
  exportNodes,
  getNode,
  importNodes,
  modeName,
  type NewNode,
  type NodeChanges,
  type NodeDocument,
  type NodeUpdate,
  newNode,
  nodeUpdate,
  storeTagged,
} from './nodes/nodes.ts'
import {
  type PointsOptions,
  type PointsPage,
  pointsOf,
  pointsOptions,
  type Statistics,
  statisticsOf,
} from './nodes/points.ts'
import type { ProfileHooks, SchemaExtension } from './profiles/query-profile.ts'
import { knnOptions, POINTS } from './query/question.ts'
import { ask, askMany } from './query/stages.ts'
import { type ChromaState, secondsNow, stateOf } from './state.ts'

/** One query of a batch: `hashtags` (a list) or `input` (a text), together with the options of the query. */
export type BatchItem = QueryOptions &
  ({ readonly hashtags: readonly string[] } | { readonly input: string }) & { readonly [other: string]: unknown }

export type KnnOptions = Pick<QueryOptions, 'k' | 'maxDistance' | 'includeRotten' | 'updateAccess'>

const NEVER = new AbortController().signal

export class Chroma {
  readonly viewer: Viewer
  readonly #host: LensHost

  /** Makes the API for one viewer; when no viewer is given, for the local owner. */
  constructor(host: LensHost, viewer: Viewer = LOCAL_OWNER) {
    this.viewer = viewer
    this.#host = host
  }

  get #state(): ChromaState {
    return stateOf(this.#host)
  }

  get #call() {
    return { viewer: this.viewer, signal: NEVER }
  }

  /**
   * Runs one query and returns the result rows, best first. A list as input is taken as hashtags; a text is turned into hashtags by a query
   * profile.
   */
  async query(input: readonly string[] | string, options?: QueryOptions): Promise<readonly ResultRow[]> {
    return (await this.queryDetailed(input, options)).results
  }

  /** Runs one query and returns the result rows, the parameters that were used and any warnings. */
  async queryDetailed(input: readonly string[] | string, options?: QueryOptions): Promise<DetailedAnswer> {
    const checked = checkToWire(queryOptions, options ?? {}, 'options')
    if (typeof input === 'string') return ask(this.#state, this.#call, { ...checked, input })
    if (!Array.isArray(input)) throw invalidParameter('hashtags', input, 'a list of hashtags, or a text')
    return ask(this.#state, this.#call, { ...checked, hashtags: checkArgument('hashtags', hashtagList, input) })
  }

  /**
   * Runs several queries and returns one list of rows per query, in the order of the queries. When one query fails, the whole call fails.
   */
  async batchQuery(items: readonly BatchItem[]): Promise<readonly (readonly ResultRow[])[]> {
    if (!Array.isArray(items)) throw invalidParameter('queries', items, 'a list of queries')
    const answers = await askMany(this.#state, this.#call, items, item => checkToWire(queryInput, item, 'query'))
    return answers.map(({ results }) => results)
  }

  /** The nodes nearest to the hashtags by colour distance alone, without recency and strength. */
  async queryKnn(hashtags: readonly string[], options?: KnnOptions): Promise<readonly ResultRow[]> {
    const checked = checkToWire(knnOptions, options ?? {}, 'options')
    // A text is refused: only a query profile can turn text into hashtags, and a query by colour alone uses no profile.
    if (!Array.isArray(hashtags)) throw invalidParameter('hashtags', hashtags, 'a list of hashtags')
    const asked = { ...checked, hashtags: checkArgument('hashtags', hashtagList, hashtags) }
    return (await ask(this.#state, this.#call, asked, 'distance')).results
  }

  /** Stores a node and returns its id. The node is private to this viewer unless its own fields give another access. */
  async store(node: NewNode): Promise<string> {
    return (await this.storeDetailed(node)).entry_id
  }

  /** Stores a node and returns its id; with `autoTags` the result also has the hashtags that were chosen for the node. */
  storeDetailed(node: NewNode): ReturnType<typeof storeTagged> {
    return storeTagged(this.#state, this.viewer, checkCamel(newNode, node, 'node'))
  }

  /**
   * Returns a node (stored note) by its id; null when no node of this id is visible to this viewer. Reading it here does not count as a use
   * that strengthens the viewer's memory of the node.
   */
  async getNode(entryId: string): Promise<NodeRow | null> {
    const id = checkArgument('entry_id', checkedId, entryId)
    return this.#retried(() => getNode(this.#state, this.viewer, id))
  }

  /**
   * Changes fields of a node (stored note). Returns false when no field is given, or when this viewer is not the holder of a node with this
   * id.
   */
  async updateNode(entryId: string, fields: NodeUpdate): Promise<boolean> {
    return this.#change(entryId, checkCamel(nodeUpdate, fields, 'fields'))
  }

  async deleteNode(entryId: string): Promise<boolean> {
    const id = checkArgument('entry_id', checkedId, entryId)
    return this.#written(() => deleteNode(this.#state, this.viewer, id))
  }

  /**
   * Marks a node (stored note) as rotten in this viewer's memory, so that results leave it out by default. Returns false when this viewer
   * sees no node of this id, or the node has ascended (became permanent).
   */
  async markRotten(entryId: string): Promise<boolean> {
    this.#state.access.flush()
    return this.#change(entryId, { rotten: true })
  }

  async setNodeMode(entryId: string, mode: ModeName): Promise<boolean> {
    return this.#change(entryId, { mode_name: checkArgument('mode_name', modeName, mode) })
  }

  async setNodeDecay(entryId: string, enabled: boolean): Promise<boolean> {
    return this.#change(entryId, { decay_enabled: checkArgument('decay_enabled', z.boolean(), enabled) })
  }

  /** Sets the value of a plug-in's column for one node; null clears the value. */
  async writeField(entryId: string, column: string, value: unknown): Promise<boolean> {
    const name = checkArgument('column', z.string(), column)
    return this.#change(entryId, { plugin_fields: { [name]: value as Json } })
  }

  /** The nodes that this viewer holds, each with the viewer's memory of it (uses, strength, health). */
  async exportNodes(): Promise<NodeDocument> {
    return this.#retried(() => exportNodes(this.#state, this.viewer))
  }

  /**
   * Imports the nodes of a document, either all or none; they become private to this viewer. Rejects with `denied` where the document has a
   * hashtag that is not assigned yet and this viewer may not assign hashtags.
   */
  async importNodes(document: DocumentToImport | JsonObject): Promise<{ readonly imported: number }> {
    const checked = checkArgument('document', documentToImport, document)
    const requireEditor = () => this.#editorOnly('chroma.import')
    return this.#written(() => importNodes(this.#state, this.viewer, checked, requireEditor))
  }

  /**
   * Assigns a hashtag to an anchor, one of 10,000 fixed colour positions that all viewers share. Only the local owner and the viewers in
   * `vocabulary.editors` may do this; for others the call rejects with `denied`.
   */
  async assignHashtag(hashtag: string, target: Target): Promise<Binding> {
    this.#editorOnly('chroma.assign')
    const neighboursOf = await this.#neighboursOf([{ ...target, hashtag }])
    return this.#written(() => this.#state.bindings.assign(hashtag, target, neighboursOf))
  }

  /** Assigns several hashtags to anchors, in the given order; either all are assigned or none. */
  async assignHashtags(assignments: readonly Assignment[]): Promise<readonly Binding[]> {
    this.#editorOnly('chroma.assign')
    const neighboursOf = await this.#neighboursOf(assignments)
    return this.#written(() => this.#state.bindings.assignMany(assignments, neighboursOf))
  }

  /** Assigns hashtags from a text, either the output of `exportVocabulary` or a list written by hand; either all are assigned or none. */
  async importVocabulary(text: string): Promise<readonly Binding[]> {
    return this.assignHashtags(assignmentsIn(checkArgument('text', z.string(), text)))
  }

  /**
   * All hashtags with their anchors as a text that `importVocabulary` reads into an empty store: one line per hashtag, or a stack file in
   * JSON.
   */
  exportVocabulary(as: 'lines' | 'stack' = 'lines'): string {
    const { bindings, host } = this.#state
    return vocabularyText(bindings.list(), checkArgument('as', vocabularyForm, as), host.clock.now())
  }

  /**
   * For hashtags that are about to be assigned, the assigned hashtags nearest to them in meaning. `isMove`: the hashtags are assigned
   * already and get another anchor.
   */
  #neighboursOf(assignments: readonly Assignment[], isMove = false): Promise<NeighboursOf> {
    const { bindings, meanings } = this.#state
    const list = bindings.toPlace(assignments, isMove)
    const assigned = bindings.list().map(({ hashtag }) => hashtag)
    const isMoved = (hashtag: string) => isMove && list.some(one => one.hashtag === hashtag)
    return meanings.neighboursOf(
      list,
      assigned.filter(hashtag => !isMoved(hashtag)),
    )
  }

  /**
   * Assigns those hashtags of the starter vocabulary (topics of software developers) that are not assigned yet, and returns their bindings.
   */
  async assignStarter(): Promise<readonly Binding[]> {
    this.#editorOnly('chroma.assign')
    return this.#written(() => assignStarter(this.#state.bindings))
  }

  /**
   * Removes a hashtag's assignment, which frees its anchor (fixed colour position). Only for the local owner: whether the call succeeds
   * depends on nodes of all holders, so the result would reveal hidden nodes to others.
   */
  async unassignHashtag(hashtag: string): Promise<Binding> {
    this.#ownerOnly('unassignHashtag')
    return this.#written(() => this.#state.bindings.unassign(hashtag))
  }

  async migrateHashtag(hashtag: string, target: Target): Promise<Migration> {
    this.#ownerOnly('migrateHashtag')
    const neighboursOf = await this.#neighboursOf([{ ...target, hashtag }], true)
    return this.#written(() => migrateHashtag(this.#state.host, this.#state.bindings, hashtag, target, neighboursOf))
  }

  /** The assigned hashtags with their anchors, in ascending order of anchor id; with `zone`, only those of this zone. */
  listHashtags(zone?: string): readonly Binding[] {
    return this.#state.bindings.list(zone)
  }

  /** The anchor and colour that a hashtag is assigned to; null when the hashtag is not assigned. */
  resolveHashtag(hashtag: string): Binding | null {
    return this.#state.bindings.resolve(hashtag)
  }

  /** Assigned hashtags whose names occur in the text, in order of first appearance. */
  suggestHashtags(content: string): readonly string[] {
    return tagsInText(content, this.#state.bindings.current.resolve)
  }

  /**
   * Chooses for any text a set of hashtags that satisfies the rules for numbers of tags per zone: those that the text names, then the
   * assigned hashtags nearest in meaning, each with zone, reason and score. Rejects with `invalid_hashtags` where too few hashtags are
   * assigned.
   */
  async completeHashtags(content: string): Promise<readonly ChosenTag[]> {
    return chooseTags(this.#state, checkArgument('content', z.string(), content))
  }

  computeNodeColor(hashtags: readonly string[]): Color {
    return this.#state.coordinates.computeNodeColor(hashtags)
  }

  async runDecayCycle(signal?: AbortSignal): Promise<DecayReport> {
    const { memory, host } = this.#state
    return this.#written(() => runDecayCycle(memory, this.viewer.id, { now: secondsNow(host), signal }))
  }

  async runLifecycleCheck(signal?: AbortSignal): Promise<LifecycleReport> {
    const { memory, host } = this.#state
    return this.#written(() => runLifecycleCheck(memory, this.viewer.id, { now: secondsNow(host), signal }))
  }

  async getStatistics(): Promise<Statistics> {
    return this.#retried(() => statisticsOf(this.#state.memory, this.viewer.id))
  }

  /**
   * One page of the visible nodes as points in colour space, newest first, each with a forecast of how its memory fades. Does not count as
   * a use of the nodes.
   */
  async points(options: PointsOptions = {}): Promise<PointsPage> {
    const checked = checkCamel(pointsOptions, options, 'options')
    await this.#state.host.ready?.([POINTS])
    return this.#retried(() => pointsOf(this.#state, this.viewer, checked))
  }

  registerQueryProfile(
    name: string,
    profile: ProfileHooks,
    options?: { readonly replace?: boolean | undefined },
  ): void {
    this.#state.profiles.register(name, profile, options)
  }

  setDefaultQueryProfile(name: string): void {
    this.#state.profiles.setDefault(name)
  }

  /**
   * Registers the columns of a plug-in. Possible only before the store is opened, in the options of `openChroma`; after that it throws a
   * PluginError, unless the extension is registered already.
   */
  registerSchemaExtension(extension: SchemaExtension): void {
    this.#state.extensions.register(extension)
  }

  /**
   * Writes the recorded uses of nodes that still wait in the queue (setting `accessUpdates: 'queued'`), and returns warnings about those
   * that could not be written.
   */
  async flush(): Promise<readonly Warning[]> {
    return this.#retried(() => this.#state.access.flush())
  }

  /**
   * Runs the work, and runs it again while the store is busy (CQ-106). Each attempt begins at the start of the work, so a failed attempt
   * must leave no effect.
   */
  #retried<T>(work: () => T | Promise<T>): Promise<T> {
    return retrying(work, this.#state.sleep)
  }

  #written<T>(work: () => T | Promise<T>): Promise<T> {
    return retryingWrite(work, this.#state)
  }

  #change(entryId: string, changes: NodeChanges): Promise<boolean> {
    const id = checkArgument('entry_id', checkedId, entryId)
    return this.#written(() => changeNode(this.#state, this.viewer, id, changes))
  }

  #editorOnly(operation: string): void {
    const { id } = this.viewer
    if (isOwner(this.viewer) || this.#state.settings.vocabulary.editors.includes(id)) return
    const message =
      'assigning hashtags is for the local owner and the viewers in lenses.chroma.vocabulary.editors; ask the owner to assign them'
    throw new QuerentError('denied', message, {
      operation,
      setting: 'lenses.chroma.vocabulary.editors',
    })
  }

  #ownerOnly(what: string): void {
    if (!isOwner(this.viewer))
      throw new QuerentError('denied', `${what} is for the local owner only`, { operation: what })
  }
}
