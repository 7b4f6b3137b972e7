/**
 * The lens as its own API (CQ-001): what a viewer can do with hashtags, nodes and queries. Everything is about what the
 * viewer sees; what is held by others reads like what is not there.
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

/** `hashtags` (a list) or `input` (a text), and the options of a query. */
export type BatchItem = QueryOptions &
  ({ readonly hashtags: readonly string[] } | { readonly input: string }) & { readonly [other: string]: unknown }

export type KnnOptions = Pick<QueryOptions, 'k' | 'maxDistance' | 'includeRotten' | 'updateAccess'>

const NEVER = new AbortController().signal

export class Chroma {
  readonly viewer: Viewer
  readonly #host: LensHost

  /** Of one viewer; without one, of the local owner. */
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

  /** Rows, best first. A list is hashtags; a text goes through a query profile. */
  async query(input: readonly string[] | string, options?: QueryOptions): Promise<readonly ResultRow[]> {
    return (await this.queryDetailed(input, options)).results
  }

  /** With the parameters as they were settled, and warnings. */
  async queryDetailed(input: readonly string[] | string, options?: QueryOptions): Promise<DetailedAnswer> {
    const checked = checkToWire(queryOptions, options ?? {}, 'options')
    if (typeof input === 'string') return ask(this.#state, this.#call, { ...checked, input })
    if (!Array.isArray(input)) throw invalidParameter('hashtags', input, 'a list of hashtags, or a text')
    return ask(this.#state, this.#call, { ...checked, hashtags: checkArgument('hashtags', hashtagList, input) })
  }

  /** One answer an item, in their order; all or none. */
  async batchQuery(items: readonly BatchItem[]): Promise<readonly (readonly ResultRow[])[]> {
    if (!Array.isArray(items)) throw invalidParameter('queries', items, 'a list of queries')
    const answers = await askMany(this.#state, this.#call, items, item => checkToWire(queryInput, item, 'query'))
    return answers.map(({ results }) => results)
  }

  /** The nearest by colour alone. */
  async queryKnn(hashtags: readonly string[], options?: KnnOptions): Promise<readonly ResultRow[]> {
    const checked = checkToWire(knnOptions, options ?? {}, 'options')
    // A text is for profiles, and this has none.
    if (!Array.isArray(hashtags)) throw invalidParameter('hashtags', hashtags, 'a list of hashtags')
    const asked = { ...checked, hashtags: checkArgument('hashtags', hashtagList, hashtags) }
    return (await ask(this.#state, this.#call, asked, 'distance')).results
  }

  /** The id of the new node, private to this viewer unless it says otherwise. */
  async store(node: NewNode): Promise<string> {
    return (await this.storeDetailed(node)).entry_id
  }

  /** With the hashtags that were chosen, where the node asks for it (`autoTags`). */
  storeDetailed(node: NewNode): ReturnType<typeof storeTagged> {
    return storeTagged(this.#state, this.viewer, checkCamel(newNode, node, 'node'))
  }

  /** Null when there is none. No access. */
  async getNode(entryId: string): Promise<NodeRow | null> {
    const id = checkArgument('entry_id', checkedId, entryId)
    return this.#retried(() => getNode(this.#state, this.viewer, id))
  }

  /** False when nothing is given, or there is no such node of this viewer's. */
  async updateNode(entryId: string, fields: NodeUpdate): Promise<boolean> {
    return this.#change(entryId, checkCamel(nodeUpdate, fields, 'fields'))
  }

  async deleteNode(entryId: string): Promise<boolean> {
    const id = checkArgument('entry_id', checkedId, entryId)
    return this.#written(() => deleteNode(this.#state, this.viewer, id))
  }

  /** For this viewer. False when there is no such node, or it has ascended. */
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

  /** Sets a plug-in's column; null unsets it. */
  async writeField(entryId: string, column: string, value: unknown): Promise<boolean> {
    const name = checkArgument('column', z.string(), column)
    return this.#change(entryId, { plugin_fields: { [name]: value as Json } })
  }

  /** The nodes this viewer holds, with its memory of them. */
  async exportNodes(): Promise<NodeDocument> {
    return this.#retried(() => exportNodes(this.#state, this.viewer))
  }

  /**
   * All of them or none; they are private to this viewer. Rejects with `denied` where the document has a hashtag that is not
   * assigned yet and this viewer may not assign hashtags.
   */
  async importNodes(document: DocumentToImport | JsonObject): Promise<{ readonly imported: number }> {
    const checked = checkArgument('document', documentToImport, document)
    const requireEditor = () => this.#editorOnly('chroma.import')
    return this.#written(() => importNodes(this.#state, this.viewer, checked, requireEditor))
  }

  /**
   * For the local owner and the viewers in `vocabulary.editors`, as are the two below: anchors are shared by all viewers, and
   * there are 10,000. Rejects with `denied` for others.
   */
  async assignHashtag(hashtag: string, target: Target): Promise<Binding> {
    this.#editorOnly('chroma.assign')
    const neighboursOf = await this.#neighboursOf([{ ...target, hashtag }])
    return this.#written(() => this.#state.bindings.assign(hashtag, target, neighboursOf))
  }

  /** In order, all or none. */
  async assignHashtags(assignments: readonly Assignment[]): Promise<readonly Binding[]> {
    this.#editorOnly('chroma.assign')
    const neighboursOf = await this.#neighboursOf(assignments)
    return this.#written(() => this.#state.bindings.assignMany(assignments, neighboursOf))
  }

  /** What `exportVocabulary` gives, or a list written by hand: all or none. */
  async importVocabulary(text: string): Promise<readonly Binding[]> {
    return this.assignHashtags(assignmentsIn(checkArgument('text', z.string(), text)))
  }

  /** All hashtags with their anchors, for `importVocabulary` of an empty store: a line each, or a stack file in JSON. */
  exportVocabulary(as: 'lines' | 'stack' = 'lines'): string {
    const { bindings, host } = this.#state
    return vocabularyText(bindings.list(), checkArgument('as', vocabularyForm, as), host.clock.now())
  }

  /** `isMove`: they are assigned, and are to get another anchor. */
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

  /** The vocabulary for developers' topics, as far as its hashtags are not assigned; what was assigned now. */
  async assignStarter(): Promise<readonly Binding[]> {
    this.#editorOnly('chroma.assign')
    return this.#written(() => assignStarter(this.#state.bindings))
  }

  /** For the local owner only, as is `migrateHashtag`: their outcome depends on nodes of all holders. */
  async unassignHashtag(hashtag: string): Promise<Binding> {
    this.#ownerOnly('unassignHashtag')
    return this.#written(() => this.#state.bindings.unassign(hashtag))
  }

  async migrateHashtag(hashtag: string, target: Target): Promise<Migration> {
    this.#ownerOnly('migrateHashtag')
    const neighboursOf = await this.#neighboursOf([{ ...target, hashtag }], true)
    return this.#written(() => migrateHashtag(this.#state.host, this.#state.bindings, hashtag, target, neighboursOf))
  }

  /** By ascending anchor. */
  listHashtags(zone?: string): readonly Binding[] {
    return this.#state.bindings.list(zone)
  }

  /** Null when it is not assigned. */
  resolveHashtag(hashtag: string): Binding | null {
    return this.#state.bindings.resolve(hashtag)
  }

  /** Assigned hashtags that the text names, in order of first appearance. */
  suggestHashtags(content: string): readonly string[] {
    return tagsInText(content, this.#state.bindings.current.resolve)
  }

  /**
   * A set that keeps the zone rules, for any text: what it names, then the assigned hashtags nearest in meaning, with zone, reason and
   * score. Rejects with `invalid_hashtags` where too few are assigned.
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

  /** A page of the nodes as points, the newest first, each with what time will do to it. No access. */
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

  /** Before the store is opened only, in the options of `openChroma`; later this is a PluginError unless it is known. */
  registerSchemaExtension(extension: SchemaExtension): void {
    this.#state.extensions.register(extension)
  }

  /** Writes accesses that wait (`accessUpdates: 'queued'`). */
  async flush(): Promise<readonly Warning[]> {
    return this.#retried(() => this.#state.access.flush())
  }

  /** CQ-106. The work is done again from its start, so it must have no effect when it fails. */
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
