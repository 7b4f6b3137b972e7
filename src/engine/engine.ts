/**
 * The façade: what one open engine can do. `open.ts` builds it; operations describe it to the interfaces. Everything takes
 * the viewer from its caller; without one it is the local owner's.
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

/** One line of an export. Lossless: importing all lines into an empty store gives the same store. */
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
 * Operations of lenses are functions of it by both parts of their names: `engine.beliefs.query({ semantic: 'ferries' })`,
 * `engine.federations.setMember(…)`. The last argument names the viewer.
 */
export interface Engine extends AsyncDisposable, Calls {
  /** The operations of lenses, asked by somebody else than the local owner. */
  as(viewer: Viewer): Calls
  query(input: QueryInput, context?: Partial<CallContext>): Promise<Page>
  /**
   * The same answer piece by piece (`chunk_size`), each made when it is asked for. Ends when it is whole, when the iterator
   * returns or the signal is aborted, and with `deadline_exceeded` when nobody asks for the next piece for a minute.
   */
  stream(input: QueryInput, context?: Partial<CallContext>): AsyncIterableIterator<PageChunk>
  /**
   * The answer now, then what changes in it, event by event. Without `notify_on_connect: false` the answer itself comes first.
   * Ends when cancelled, when the context's signal is aborted, and with the engine.
   */
  subscribe(input: WatchInput, handlers: LiveHandlers, context?: Partial<CallContext>): Promise<Subscription>
  explain(input: ExplainRequest, context?: Partial<CallContext>): Promise<ExplainAnswer>
  /** How many items the answer has over all of its pages; counts to 10,000. */
  count(input: QueryInput, context?: Partial<CallContext>): Promise<Count>
  /** Entries like this one, by meaning (or by its rarest words when there are no vectors). */
  similar(
    input: { readonly id: string; readonly limit?: number | undefined },
    context?: Partial<CallContext>,
  ): Promise<Page>
  /** Opening an entry counts as its use, unless `touch` is false. */
  get(input: GetInput, context?: Partial<CallContext>): Promise<EntryView>
  /** Counts a use of entries that were opened or cited. All of them or none: `not_found` for an id that is not visible. */
  touch(
    input: { readonly ids: readonly string[] },
    context?: Partial<CallContext>,
  ): Promise<{ readonly touched: number }>
  list(input: ListInput, context?: Partial<CallContext>): Promise<ListPage>
  /** Names that begin so, of entries that the viewer sees. */
  suggest(input: SuggestInput, context?: Partial<CallContext>): Promise<Suggestions>
  put(
    input: PutEntriesInput,
    context?: Partial<CallContext>,
  ): Promise<{
    readonly ids: readonly string[]
    readonly created: number
    readonly updated: number
    readonly unchanged: number
    /** Why some of the viewer's chunks have no vector: embedding failed, or refuses them. Null otherwise. */
    readonly embedding_error: string | null
  }>
  add(input: AddRequest, context?: Partial<CallContext>): Promise<AddReport>
  delete(
    input: { readonly ids: readonly string[] },
    context?: Partial<CallContext>,
  ): Promise<{ readonly deleted: number }>
  /** Reads again what has changed in files and folders that were added (QE-012). */
  sync(input?: SyncRequest, context?: Partial<CallContext>): Promise<SyncReport>
  /**
   * The same before a question, where few files have changed; where many have, answers say so to the owner. Never rejects. Nothing for anybody but
   * the owner, and where files are watched.
   */
  readChanges(context?: Partial<CallContext>): Promise<void>
  status(context?: Partial<CallContext>): Promise<Status>
  /** Changes of the store that its loaded indexes have not taken in: the next question brings them forward. Of all partitions. */
  feedLag(): number
  /** With `repair`, repairs what can be made again from what is there and touches nothing else. */
  doctor(input?: DoctorRequest, context?: Partial<CallContext>): Promise<Examination>
  /** The models in use. */
  models(context?: Partial<CallContext>): Promise<ModelList>
  /** Tries the model in a folder. Rejects with `model_invalid`. */
  checkModel(folder: string, context?: Partial<CallContext>): Promise<ModelCheck>
  /** Writes which model is used, and begins to embed. Rejects with `model_invalid`, or `conflict` where `config.json` has no say. */
  useModel(input: UseModelInput, context?: Partial<CallContext>): Promise<UsedModel>
  /** Copies the store while anybody writes; rejects with `conflict` where a file is in the way. */
  backup(input: BackupRequest, context?: Partial<CallContext>): Promise<Backup>
  export(context?: Partial<CallContext>): AsyncIterable<ExportLine>
  import(lines: AsyncIterable<unknown>, context?: Partial<CallContext>): Promise<Imported>
  /** Resolves when every chunk that was there at the call has a vector, or there is no embedder. */
  embedded(report?: (progress: Progress) => void): Promise<void>
  readonly lenses: readonly Lens[]
  /** What a lens's operations run on. */
  host(lens: string): LensHost
  /** The operations that lenses bring. */
  readonly lensOperations: readonly { readonly lens: string; readonly operation: Operation<LensHost> }[]
  /** How much requesters from outside may ask. */
  readonly limits: Limits
  /** Who requests that bear a signature are from. */
  readonly signedRequests: SignedRequests
  /** Short names of cursors, for interfaces whose answers an agent reads. */
  readonly cursors: CursorHandles
  /** Live queries of every lens. */
  readonly live: LiveQueries
  close(): Promise<void>
}
