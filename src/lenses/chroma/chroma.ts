/**
 * The lens `chroma` as an API of its own (CQ-001): what a viewer can do with hashtags, nodes and queries. A viewer works on visible nodes
 * only; nodes of others are reported like missing ones.
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

/** One query of a batch: `hashtags` (a list) or `input` (a text), and the options of a query. */
export type BatchItem = QueryOptions &
  ({ readonly hashtags: readonly string[] } | { readonly input: string }) & { readonly [other: string]: unknown }

export type KnnOptions = Pick<QueryOptions, 'k' | 'maxDistance' | 'includeRotten' | 'updateAccess'>

const NEVER = new AbortController().signal

export class Chroma {
  readonly viewer: Viewer
  readonly #host: LensHost

  /** The API for one viewer; without one, for the local owner. */
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

  /** Result rows, best first. Input that is a list is taken as hashtags; a text goes through a query profile. */
  async query(input: readonly string[] | string, options?: QueryOptions): Promise<readonly ResultRow[]> {
    return (await this.queryDetailed(input, options)).results
  }

  /** Result rows with the parameters that were used and warnings. */
  async queryDetailed(input: readonly string[] | string, options?: QueryOptions): Promise<DetailedAnswer> {
    const checked = checkToWire(queryOptions, options ?? {}, 'options')
    if (typeof input === 'string') return ask(this.#state, this.#call, { ...checked, input })
    if (!Array.isArray(input)) throw invalidParameter('hashtags', input, 'a list of hashtags, or a text')
    return ask(this.#state, this.#call, { ...checked, hashtags: checkArgument('hashtags', hashtagList, input) })
  }

  /** Runs several queries: one answer per item, in their order. When one query fails, all fail. */
  async batchQuery(items: readonly BatchItem[]): Promise<readonly (readonly ResultRow[])[]> {
    if (!Array.isArray(items)) throw invalidParameter('queries', items, 'a list of queries')
    const answers = await askMany(this.#state, this.#call, items, item => checkToWire(queryInput, item, 'query'))
    return answers.map(({ results }) => results)
  }

  /** The nodes nearest by colour alone, without memory. */
  async queryKnn(hashtags: readonly string[], options?: KnnOptions): Promise<readonly ResultRow[]> {
    const checked = checkToWire(knnOptions, options ?? {}, 'options')
    // Only a query profile can read a text, and this query has none.
    if (!Array.isArray(hashtags)) throw invalidParameter('hashtags', hashtags, 'a list of hashtags')
    const asked = { ...checked, hashtags: checkArgument('hashtags', hashtagList, hashtags) }
    return (await ask(this.#state, this.#call, asked, 'distance')).results
  }

  /** Stores a node and returns its id. The node is private to this viewer unless it says otherwise. */
  async store(node: NewNode): Promise<string> {
    return (await this.storeDetailed(node)).entry_id
  }

  /** Stores a node. The result has the hashtags that were chosen, where the node asks for that (`autoTags`). */
  storeDetailed(node: NewNode): ReturnType<typeof storeTagged> {
    return storeTagged(this.#state, this.viewer, checkCamel(newNode, node, 'node'))
  }

  /** A node by its id; null when there is none. Does not count as a use of the node. */
  async getNode(entryId: string): Promise<NodeRow | null> {
    const id = checkArgument('entry_id', checkedId, entryId)
    return this.#retried(() => getNode(this.#state, this.viewer, id))
  }

  /** Changes a node. False when no field is given, or this viewer holds no such node. */
  async updateNode(entryId: string, fields: NodeUpdate): Promise<boolean> {
    return this.#change(entryId, checkCamel(nodeUpdate, fields, 'fields'))
  }

  async deleteNode(entryId: string): Promise<boolean> {
    const id = checkArgument('entry_id', checkedId, entryId)
    return this.#written(() => deleteNode(this.#state, this.viewer, id))
  }

  /** Marks a node as rotten for this viewer. False when there is no such node, or it has ascended. */
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

  /** Sets the value of a plug-in's column; null clears it. */
  async writeField(entryId: string, column: string, value: unknown): Promise<boolean> {
    const name = checkArgument('column', z.string(), column)
    return this.#change(entryId, { plugin_fields: { [name]: value as Json } })
  }

  /** The nodes that this viewer holds, with this viewer's memory of them. */
  async exportNodes(): Promise<NodeDocument> {
    return this.#retried(() => exportNodes(this.#state, this.viewer))
  }

  /**
   * Imports all nodes of the document or none; they become private to this viewer. Rejects with `denied` where the document has a hashtag
   * that is not assigned yet and this viewer may not assign hashtags.
   */
  async importNodes(document: DocumentToImport | JsonObject): Promise<{ readonly imported: number }> {
    const checked = checkArgument('document', documentToImport, document)
    const requireEditor = () => this.#editorOnly('chroma.import')
    return this.#written(() => importNodes(this.#state, this.viewer, checked, requireEditor))
  }

  /**
   * Assigns a hashtag to an anchor. Like the next two methods, only for the local owner and the viewers in `vocabulary.editors`, because
   * all viewers share the 10,000 anchors. Rejects with `denied` for others.
   */
  async assignHashtag(hashtag: string, target: Target): Promise<Binding> {
    this.#editorOnly('chroma.assign')
    const neighboursOf = await this.#neighboursOf([{ ...target, hashtag }])
    return this.#written(() => this.#state.bindings.assign(hashtag, target, neighboursOf))
  }

  /** Assigns several hashtags, in order, all or none. */
  async assignHashtags(assignments: readonly Assignment[]): Promise<readonly Binding[]> {
    this.#editorOnly('chroma.assign')
    const neighboursOf = await this.#neighboursOf(assignments)
    return this.#written(() => this.#state.bindings.assignMany(assignments, neighboursOf))
  }

  /** Assigns hashtags from a text: the output of `exportVocabulary`, or a list written by hand. All or none. */
  async importVocabulary(text: string): Promise<readonly Binding[]> {
    return this.assignHashtags(assignmentsIn(checkArgument('text', z.string(), text)))
  }

  /** All hashtags with their anchors, for `importVocabulary` into an empty store: one line per hashtag, or a stack file in JSON. */
  exportVocabulary(as: 'lines' | 'stack' = 'lines'): string {
    const { bindings, host } = this.#state
    return vocabularyText(bindings.list(), checkArgument('as', vocabularyForm, as), host.clock.now())
  }

  /** Nearest hashtags in meaning of those that are to be placed. `isMove`: the hashtags are assigned already and get another anchor. */
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

  /** Assigns the starter vocabulary of developers' topics, as far as its hashtags are not assigned yet. Returns the new bindings. */
  async assignStarter(): Promise<readonly Binding[]> {
    this.#editorOnly('chroma.assign')
    return this.#written(() => assignStarter(this.#state.bindings))
  }

  /** Frees the anchor of a hashtag. Like `migrateHashtag`, only for the local owner: the outcome depends on nodes of all holders. */
  async unassignHashtag(hashtag: string): Promise<Binding> {
    this.#ownerOnly('unassignHashtag')
    return this.#written(() => this.#state.bindings.unassign(hashtag))
  }

  async migrateHashtag(hashtag: string, target: Target): Promise<Migration> {
    this.#ownerOnly('migrateHashtag')
    const neighboursOf = await this.#neighboursOf([{ ...target, hashtag }], true)
    return this.#written(() => migrateHashtag(this.#state.host, this.#state.bindings, hashtag, target, neighboursOf))
  }

  /** Assigned hashtags, by ascending anchor id. */
  listHashtags(zone?: string): readonly Binding[] {
    return this.#state.bindings.list(zone)
  }

  /** The binding of a hashtag; null when it is not assigned. */
  resolveHashtag(hashtag: string): Binding | null {
    return this.#state.bindings.resolve(hashtag)
  }

  /** Assigned hashtags that the text names, in order of first appearance. */
  suggestHashtags(content: string): readonly string[] {
    return tagsInText(content, this.#state.bindings.current.resolve)
  }

  /**
   * For any text, a set of hashtags that keeps the zone rules: those that the text names, then the assigned hashtags nearest in meaning,
   * each with zone, reason and score. Rejects with `invalid_hashtags` where too few hashtags are assigned.
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

  /** A page of the nodes as points, newest first, each with a forecast of its memory. Does not count as a use of the nodes. */
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
   * Registers a plug-in's columns. Possible only before the store is opened, in the options of `openChroma`; afterwards it throws a
   * PluginError unless the extension is registered already.
   */
  registerSchemaExtension(extension: SchemaExtension): void {
    this.#state.extensions.register(extension)
  }

  /** Writes uses of nodes that wait in the queue (`accessUpdates: 'queued'`). */
  async flush(): Promise<readonly Warning[]> {
    return this.#retried(() => this.#state.access.flush())
  }

  /** Retries the work while the store is busy (CQ-106). The work is run again from its start, so it must have no effect when it fails. */
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
