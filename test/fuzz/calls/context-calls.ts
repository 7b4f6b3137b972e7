/** A good call of every operation of the lens context. */
import { by, type Call, CONCEPT, OWNER_NAME, REQUESTER } from './call.ts'

export const CONTEXT_CALLS: readonly Call[] = [
  by(OWNER_NAME, 'context.index', { paths: ['src/login.ts'], force: true }),
  by(OWNER_NAME, 'context.body_init'),
  by(OWNER_NAME, 'context.body_files_add', { path: 'src/login.ts', paths: ['notes.md'] }),
  by(OWNER_NAME, 'context.body_scan', { path: 'src', dry_run: true }),
  by(OWNER_NAME, 'context.body_fts_index', { force: true }),
  by(REQUESTER, 'context.query', { query: 'Login token', depth: 2, limit: 5, mode: 'hybrid', type: 'Class' }),
  by(REQUESTER, 'context.definition', { name: 'Login', limit: 3 }),
  by(REQUESTER, 'context.references', { name: 'Login', relation: 'USES', limit: 3 }),
  by(REQUESTER, 'context.callers', { id: CONCEPT + 1, depth: 3 }),
  by(REQUESTER, 'context.body_fts_search', { query: 'login', path: 'src', limit: 3 }),
  by(REQUESTER, 'context.mind_concepts_create', { name: 'A', type: 'Class', visibility: 'public' }),
  by(REQUESTER, 'context.mind_concepts_create_many', { concepts: [{ name: 'A', type: 'B' }] }),
  ...['get', 'delete'].map(verb => by(REQUESTER, `context.mind_concepts_${verb}`, { id: CONCEPT })),
  by(REQUESTER, 'context.mind_concepts_list', { type: 'Class' }),
  by(REQUESTER, 'context.mind_concepts_update', { id: CONCEPT, name: 'B', type: 'Enum' }),
  by(REQUESTER, 'context.mind_edges_create', { source: CONCEPT + 1, target: CONCEPT, relation: 'CALLS', weight: 1 }),
  by(REQUESTER, 'context.mind_edges_create_many', {
    edges: [{ source: CONCEPT, target: CONCEPT + 1, relation: 'x', weight: 0.1 }],
  }),
  ...['get', 'delete'].map(verb => by(REQUESTER, `context.mind_edges_${verb}`, { id: CONCEPT })),
  by(REQUESTER, 'context.mind_edges_list', { source: CONCEPT, target: CONCEPT + 1, relation: 'USES' }),
  by(REQUESTER, 'context.mind_edges_update', { id: CONCEPT, relation: 'y', weight: 0.3 }),
  ...['create', 'list', 'delete'].map(verb =>
    by(REQUESTER, `context.mind_provenance_${verb}`, { concept_id: CONCEPT, file_url: 'file:///src/login.ts' }),
  ),
  by(REQUESTER, 'context.mind_search', { query: 'Log', limit: 2 }),
  by(REQUESTER, 'context.graph_summary'),
  by(REQUESTER, 'context.graph_neighbors', { id: CONCEPT }),
  by(REQUESTER, 'context.graph_viz', { format: 'mermaid', limit: 5 }),
  by(REQUESTER, 'context.extract', {
    file_url: 'file:///src/login.ts',
    concepts: [{ name: 'C', type: 'Class' }],
    edges: [{ source_name: 'C', target_name: 'C', relation: 'USES' }],
  }),
  by(OWNER_NAME, 'context.mind_init', { force: true }),
]
