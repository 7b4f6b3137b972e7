/**
 * The public interface of an open engine: everything that it can do. Every method takes the viewer from its call context; without one it
 * acts for the local owner.
 */
import type { JsonObject } from '../base/canonical.ts'
import type { Limits } from '../identity/rates.ts'
import type { Calls } from '../lenses/calls.ts'
import type { Lens, LensHost } from '../lenses/lens.ts'
import type { AccessState } from '../model/entry.ts'
import type { AddRequest, GetInput, ListInput, PutEntriesInput, SyncRequest } from '../model/entry-input.ts'
import type { LiveHandlers, LiveQueries, Subscription, WatchInput } from '../model/live.ts'
import type { CallContext, Operation, Progress } from '../model/operation.ts'
import type { Count, ExplainAnswer, ExplainRequest, Page, PageChunk } from '../model/page.ts'
import type { QueryInput, SuggestInput, Suggestions } from '../model/query-input.ts'
import type {
  AddReport,
  Backup,
  BackupRequest,
  DoctorRequest,
  EntryView,
  Examination,
  ListPage,
  ModelCheck,
  ModelList,
  Status,
  SyncReport,
  UsedModel,
  UseModelInput,
} from '../model/reports.ts'
import type { Viewer } from '../model/viewer.ts'
import type { CursorHandles } from './cursor-handles.ts'
import type { Imported } from './import.ts'
import type { SignedRequests } from './node-identity.ts'

export type { AddRequest, ListInput, PutInput } from '../model/entry-input.ts'
export type { ExplainAnswer, ExplainRequest } from '../model/page.ts'
export type {
  AddedPathState,
  AddReport,
  Backup,
  EntryName,
  EntryView,
  Examination,
  Finding,
  ListPage,
  ModelCheck,
  ModelList,
  Status,
  SyncReport,
  UsedModel,
  UseModelInput,
} from '../model/reports.ts'

/** One line of an export. The export is lossless: importing all of its lines into an empty store gives an equal store. */
export type ExportLine =
  | { readonly type: 'querent'; readonly version: 1 }
  | { readonly type: 'entry'; readonly entry: JsonObject }
  | {
      readonly type: 'access'
      readonly viewer: string
      readonly holder: string
      readonly id: string
      readonly state: AccessState
    }
  | {
      readonly type: 'row'
      readonly table: string
      readonly entry?: { readonly holder: string; readonly id: string } | undefined
      readonly row: JsonObject
    }

/**
 * Lens operations are methods of the engine, named by both parts of the operation's name: `engine.beliefs.query({ semantic: 'ferries' })`,
 * `engine.federations.setMember(…)`. The last argument names the viewer.
 */
export interface Engine extends AsyncDisposable, Calls {
  /** Gives the operations of all lenses as functions that act for this viewer instead of the local owner. */
  as(viewer: Viewer): Calls
  query(input: QueryInput, context?: Partial<CallContext>): Promise<Page>
  /**
   * The answer to a query as a stream of pieces with `chunk_size` items, each computed when it is requested. The stream ends when the
   * answer is complete, when the iterator's `return` is called or the signal is aborted; it fails with `deadline_exceeded` when the next
   * piece is not requested for a minute.
   */
  stream(input: QueryInput, context?: Partial<CallContext>): AsyncIterableIterator<PageChunk>
  /**
   * Subscribes to the answer of a query: its changes are sent as events, and unless `notify_on_connect` is false the items of the present
   * answer are sent as events first. The subscription ends when it is cancelled, when the context's signal is aborted, or when the engine
   * is closed.
   */
  subscribe(input: WatchInput, handlers: LiveHandlers, context?: Partial<CallContext>): Promise<Subscription>
  explain(input: ExplainRequest, context?: Partial<CallContext>): Promise<ExplainAnswer>
  /** Number of items that match a query, over all pages of its answer; counting stops at 10,000. */
  count(input: QueryInput, context?: Partial<CallContext>): Promise<Count>
  /** Entries with a meaning similar to that of the given entry; without vectors, entries that share its rarest words. */
  similar(
    input: { readonly id: string; readonly limit?: number | undefined },
    context?: Partial<CallContext>,
  ): Promise<Page>
  /** Reads an entry. This counts as a use of the entry, which raises it in later answers, unless `touch` is false. */
  get(input: GetInput, context?: Partial<CallContext>): Promise<EntryView>
  /**
   * Counts a use of entries that a person or agent opened or cited, which raises them in later answers. All of them are counted or none:
   * `not_found` if an id is not visible to the viewer.
   */
  touch(
    input: { readonly ids: readonly string[] },
    context?: Partial<CallContext>,
  ): Promise<{ readonly touched: number }>
  list(input: ListInput, context?: Partial<CallContext>): Promise<ListPage>
  /** Suggests completions: names (such as tags or collections) that begin with the given text, from entries that the viewer may see. */
  suggest(input: SuggestInput, context?: Partial<CallContext>): Promise<Suggestions>
  put(
    input: PutEntriesInput,
    context?: Partial<CallContext>,
  ): Promise<{
    readonly ids: readonly string[]
    readonly created: number
    readonly updated: number
    readonly unchanged: number
    /**
     * Why embedding failed to give the viewer's chunks a vector: an error, or texts that the embedder refused. Null: no chunk lacks a
     * vector, or embedding is still in progress.
     */
    readonly embedding_error: string | null
  }>
  add(input: AddRequest, context?: Partial<CallContext>): Promise<AddReport>
  delete(
    input: { readonly ids: readonly string[] },
    context?: Partial<CallContext>,
  ): Promise<{ readonly deleted: number }>
  /** Checks added files and folders for changes, and reads changed files again (QE-012). */
  sync(input?: SyncRequest, context?: Partial<CallContext>): Promise<SyncReport>
  /**
   * To be called before a query: reads changed files again if there are few; otherwise a note on the owner's answers mentions them. Never
   * rejects. Does nothing for viewers other than the owner, or if a process watches the files.
   */
  readChanges(context?: Partial<CallContext>): Promise<void>
  status(context?: Partial<CallContext>): Promise<Status>
  /**
   * Number of changes in the store's change feed, over all partitions, that the loaded indexes have not applied yet; the next query applies
   * them.
   */
  feedLag(): number
  /**
   * Health check: examines the store, indexes and embedder. With `repair`, also repairs problems, but only by rebuilding what can be
   * derived from existing data.
   */
  doctor(input?: DoctorRequest, context?: Partial<CallContext>): Promise<Examination>
  /** The embedding models that answer queries now, or that will after a change of model in progress, with their state. */
  models(context?: Partial<CallContext>): Promise<ModelList>
  /** Tests whether the embedding model in a folder can be used. Rejects with `model_invalid` if the folder holds no model. */
  checkModel(folder: string, context?: Partial<CallContext>): Promise<ModelCheck>
  /**
   * Sets the embedding model in `config.json`, and begins to embed. Rejects with `model_invalid`, or with `conflict` if the environment or
   * an option names the model.
   */
  useModel(input: UseModelInput, context?: Partial<CallContext>): Promise<UsedModel>
  /** Copies the store to a file, even during writes; rejects with `conflict` if the file exists. */
  backup(input: BackupRequest, context?: Partial<CallContext>): Promise<Backup>
  export(context?: Partial<CallContext>): AsyncIterable<ExportLine>
  import(lines: AsyncIterable<unknown>, context?: Partial<CallContext>): Promise<Imported>
  /** Resolves when every chunk that exists now has a vector; resolves at once if there is no embedder. */
  embedded(report?: (progress: Progress) => void): Promise<void>
  readonly lenses: readonly Lens[]
  /** The object through which the operations of this lens use the engine. */
  host(lens: string): LensHost
  /** All operations that lenses define, each with the name of its lens. */
  readonly lensOperations: readonly { readonly lens: string; readonly operation: Operation<LensHost> }[]
  /** Limits on how much requesters outside this process may ask, stream and store. */
  readonly limits: Limits
  /** Authenticates signed requests from outside: finds the viewer for whom a request acts. */
  readonly signedRequests: SignedRequests
  /** Replaces long cursors by short handles, for interfaces whose answers an agent or a URL must repeat. */
  readonly cursors: CursorHandles
  /** The live queries (subscriptions to changes of an answer) of this engine, whichever lens answers them. */
  readonly live: LiveQueries
  close(): Promise<void>
}
