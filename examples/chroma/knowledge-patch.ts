/**
 * Questions of the form `paradigm | subdomains | cutoff | release | format`. The profile ships with the lens; this one,
 * shorter and stricter, shows how such a profile is written.
 */
import {
  CHROMA_BASE,
  type ParseContext,
  type PostContext,
  type QueryParams,
  QueryProfile,
  QueryProfileError,
  type ResultRow,
} from '../../src/index.ts'
import { clock, DAY, openExample, TODAY } from './store.ts'

const RELEASES: Readonly<Record<string, readonly string[]>> = {
  latest: ['public', 'lts', 'latest'],
  beta: ['beta', 'public', 'lts'],
}

class PatchProfile extends QueryProfile {
  override parseInput(text: string, context: ParseContext): QueryParams {
    const [paradigm, subdomains, cutoff, release = 'latest'] = text.split('|').map(part => part.trim())
    if (!paradigm || !subdomains)
      throw new QueryProfileError('no_paradigm', 'the paradigm or its subdomains are missing')
    const segments = subdomains.split(':')
    const path = segments[0] === paradigm ? segments : [paradigm, ...segments]
    return {
      hashtags: path.map(segment => `#${segment}`),
      k: 100, // narrowed to the path afterwards
      temporalRange: [cutoff ? Date.parse(cutoff) / 1000 : context.now - 365 * DAY, context.now],
      metadataFilters: { paradigm, release_status: RELEASES[release] ?? ['public'] },
      state: { path: path.join(':') },
    }
  }

  override postProcess(rows: ResultRow[], { state }: PostContext): readonly ResultRow[] {
    const { path } = state as { path: string }
    const kept = rows.filter(row => row['subdomain_path'] === path)
    const traits = traitsOf(kept)
    return kept.map(row => ({ ...row, _aggregated_layout_traits: traits }))
  }
}

/** The share of each trait in all of them. */
function traitsOf(rows: readonly ResultRow[]): Record<string, number> {
  const sums = new Map<string, number>()
  for (const row of rows) {
    for (const [trait, value] of Object.entries((row['layout_traits'] ?? {}) as Record<string, number>)) {
      sums.set(trait, (sums.get(trait) ?? 0) + value)
    }
  }
  const total = [...sums.values()].reduce((sum, value) => sum + value, 0)
  return Object.fromEntries([...sums].map(([trait, value]) => [trait, value / total]))
}

await using chroma = await openExample({ extensions: [CHROMA_BASE], profiles: { patch: new PatchProfile() } })
const hashtags = ['#ai_tools', '#claude', '#tools', '#claude_code', '#agents', '#prompts', '#cli', '#updates']
const store = (label: string, path: string, traits: Record<string, number>, daysAgo: number): Promise<string> => {
  clock.now = TODAY - daysAgo * DAY
  const pluginFields = { paradigm: 'ai_tools', release_status: 'public', subdomain_path: path, layout_traits: traits }
  return chroma.store({ hashtags, label, content: `${label}.`, pluginFields })
}
const path = 'ai_tools:claude:tools:claude_code:updates'
await store('Hooks', path, { header_body: 3, list_format: 1 }, 20)
await store('Sub-agents', path, { header_body: 3, list_format: 1 }, 10)
await store('Prompt library', 'ai_tools:prompts', { table: 1 }, 10)
await store('The first release', path, { header_body: 1 }, 300)
clock.now = TODAY

const text = 'ai_tools | claude:tools:claude_code:updates | 2025-06-01 | latest | xml'
for (const profile of ['patch', 'knowledge_patch']) {
  const rows = await chroma.query(text, { profile, updateAccess: false })
  console.log(
    profile,
    rows.map(row => row.label),
    rows[0]?.['_aggregated_layout_traits'],
  )
}

// Prints:
// patch [ 'Sub-agents', 'Hooks' ] { header_body: 0.75, list_format: 0.25 }
// knowledge_patch [ 'Sub-agents', 'Hooks' ] { header_body: 0.75, list_format: 0.25 }
