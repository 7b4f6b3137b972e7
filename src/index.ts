/** The entry point of the public library: open an engine, query it, extend it. All other modules are internal. */
import * as formula from './model/formula.ts'

export { type Clock, type Instant, SettableClock, systemClock } from './base/clock.ts'
export type { Embedder, EmbeddingModel } from './embed/embedder.ts'
export type { EmbedderSettings } from './embed/open-embedder.ts'
export type {
  AddReport,
  AddRequest,
  Backup,
  Engine,
  EntryName,
  EntryView,
  Examination,
  ExplainAnswer,
  ExplainRequest,
  ExportLine,
  Finding,
  ListInput,
  ListPage,
  PutInput,
  Status,
} from './engine/engine.ts'
export { type MirrorCollectionRequest, mirrorCollection } from './engine/mirror.ts'
export { openEngine } from './engine/open.ts'
export type { EngineOptions } from './engine/options.ts'
export type { Index, VectorIndex, WordIndex } from './index/contract.ts'
export { BeliefsError } from './lenses/beliefs/errors.ts'
export type { Belief, QueryResult as BeliefsQueryResult, RankedBelief } from './lenses/beliefs/model.ts'
export type { NewBelief } from './lenses/beliefs/schema/belief.ts'
export type { BeliefFilter } from './lenses/beliefs/schema/filters.ts'
export type { BeliefQuery } from './lenses/beliefs/schema/query.ts'
export type { C64Answer } from './lenses/c64/ask.ts'
export type { C64LensOptions } from './lenses/c64/c64-lens.ts'
export { type Enrichment, enrich } from './lenses/c64/enrichment/enrich.ts'
export type { HitPayload, HitReference, SearchHit } from './lenses/c64/enrichment/hits.ts'
export { formatEnrichment } from './lenses/c64/enrichment/hits.ts'
export type { NumberRole, NumberRules, ParsedNumber } from './lenses/c64/enrichment/numbers.ts'
export { extractNumbers } from './lenses/c64/enrichment/numbers.ts'
export type {
  DomainRecord,
  EnrichmentDomain,
  EnrichmentInput,
  EnrichmentPlugin,
  EnrichmentResult,
} from './lenses/c64/enrichment/plugin.ts'
export { type C64Options, c64Domain } from './lenses/c64/plugins.ts'
export type { C64Question } from './lenses/c64/settings.ts'
export type { Calls } from './lenses/calls.ts'
export { type BatchItem, Chroma } from './lenses/chroma/chroma.ts'
export { type ChromaLensOptions, chromaLens } from './lenses/chroma/chroma-lens.ts'
export {
  ChromaError,
  ConfigurationError,
  DatabaseError,
  HashtagConflictError,
  PluginError,
  QueryError,
  QueryProfileError,
  StartupError,
  StorageError,
  UnknownHashtagError,
  ValidationError,
} from './lenses/chroma/errors.ts'
export type {
  Binding,
  DetailedAnswer,
  EffectiveQuery,
  NodeRow,
  QueryOptions,
  QueryParams,
  ResultRow,
  ScoreWeights,
} from './lenses/chroma/model.ts'
export type { NewNode, NodeDocument } from './lenses/chroma/nodes/nodes.ts'
export { type CodeSearchOptions, CodeSearchQueryProfile } from './lenses/chroma/profiles/default-profile.ts'
export { type KnowledgePatchOptions, KnowledgePatchQueryProfile } from './lenses/chroma/profiles/knowledge-patch.ts'
export type { ParseContext, PostContext, SchemaExtension } from './lenses/chroma/profiles/query-profile.ts'
export { CHROMA_BASE, type ProfileHooks, QueryProfile } from './lenses/chroma/profiles/query-profile.ts'
export type { CollectionsAnswer } from './lenses/collections/ask.ts'
export { formatResultsMarkdown } from './lenses/collections/markdown.ts'
export { agentDays, ChromaQueryError } from './lenses/collections/request.ts'
export { dateText, type QueryResult } from './lenses/collections/results.ts'
export type { Warning as CollectionsWarning } from './lenses/collections/stages.ts'
export type { Job, Lens, LensHost } from './lenses/lens.ts'
export { queryOperations } from './lenses/query-operations.ts'
export type { Candidate, Ranked, Scored } from './model/candidate.ts'
export type { Entry } from './model/entry.ts'
export { ERROR_CODES, type ErrorCode, type ErrorKind, QuerentError } from './model/errors.ts'
export { type Explanation, recompute } from './model/explanation.ts'
export type { Filter } from './model/filter.ts'
export type { FileDocument, FileReading, Ingester } from './model/ingester.ts'
export type { LiveEvent, LiveHandlers, LiveReason, Subscription, WatchInput } from './model/live.ts'
export type { CallContext, Operation, Progress } from './model/operation.ts'
export type { Item, Note, Page, PageChunk, Verdict } from './model/page.ts'
export type { FilterInput, QueryInput } from './model/query-input.ts'
export type { TableDeclaration } from './model/table.ts'
export { LOCAL_OWNER, type Viewer } from './model/viewer.ts'
export { type Beliefs, type OpenBeliefs, type OpenBeliefsOptions, openBeliefs } from './openings/beliefs.ts'
export { c64Markdown, OpenC64, type OpenC64Options, openC64 } from './openings/c64.ts'
export { OpenChroma, type OpenChromaOptions, openChroma } from './openings/chroma.ts'
export { type QueryCollectionsOptions, queryChromadb, queryCollections } from './openings/collections.ts'
export { OpenContext, type OpenContextOptions, openContext } from './openings/context.ts'
export {
  type EnrichmentPluginRequest,
  type EnrichmentPlugins,
  loadEnrichmentPlugins,
} from './openings/enrichment-plugins.ts'
export { installSkills, type SkillsReport, type SkillsRequest } from './openings/skills.ts'
export type { QueryContext } from './pipeline/context.ts'
export { DEFAULT_STAGES } from './pipeline/default-stages.ts'
export { byFormula } from './pipeline/formula.ts'
export type { Answer, Plan, Ranking, Retrieval, Scoring, Stages } from './pipeline/stage.ts'
export type { Store } from './store/store.ts'
export { formula }
