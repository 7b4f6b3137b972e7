/** docs/reference/operations.md: every operation of the catalog, by lens. */
import type { EngineOperation } from '../../src/ops/catalog.ts'
import type { Known } from './known.ts'
import { anchor, MADE } from './markdown.ts'
import { fieldTable, OperationEntries } from './operation-entry.ts'
import { filterSchema, shapesOf } from './shared-shapes.ts'

interface Group {
  readonly title: string
  readonly about: string
  readonly operations: readonly EngineOperation[]
}

export function operationsPage(known: Known): string {
  const groups = groupsOf(known)
  const shapes = shapesOf(known.catalog)
  const entries = new OperationEntries(known, shapes)
  return [
    MADE,
    INTRODUCTION,
    contents(groups),
    `## Filter\n\n${ABOUT_FILTERS}\n\n${fieldTable(filterSchema(known.catalog), shapes)}`,
    TIMES,
    ...groups.map(group => sectionOf(group, entries)),
  ].join('\n')
}

const ABOUT_FILTERS = 'Conditions that every result must meet. All given conditions apply.'

const INTRODUCTION = `# Operations

Everything Querent can do, once. Each operation is the same at every interface: a method of the library, \`querent call <name> '<JSON>'\`,
\`POST /v1/ops/<name>\` [over HTTP](../guide/http.md), and for many a command, a readable route or a tool [over MCP](../guide/mcp.md).
\`querent call --help\` and \`GET /v1/ops\` list them too.

A field that is not marked **required** can be left out; one that is not listed is refused with \`unknown_field\`. Below each operation
stand the errors that it has beside those that [any operation can have](errors.md#any-operation).
`

const TIMES = `## Times

A moment is a text in ISO 8601 (\`2026-03-01T12:00:00Z\`; without a zone it is UTC), a day (\`2026-03-01\`: its first instant in UTC), or
a whole number of milliseconds since 1970. Answers have the first form.
`

function groupsOf({ catalog, lenses }: Known): readonly Group[] {
  const prefixes = [...new Set([...catalog.keys()].map(prefixOf))]
  return prefixes.map(prefix => ({
    title: TITLES[prefix] ?? `Lens ${prefix}`,
    about:
      ABOUT[prefix] ??
      `${lenses.find(({ name }) => name === prefix)?.summary ?? ''}. Guide: [${prefix}](../guide/${prefix}.md).`,
    operations: [...catalog.values()].filter(({ name }) => prefixOf(name) === prefix),
  }))
}

function prefixOf(name: string): string {
  return name.includes('.') ? (name.split('.')[0] ?? '') : ''
}

const TITLES: Readonly<Record<string, string>> = {
  '': 'The engine',
  trust: 'Trust',
  agents: 'Agents',
  federations: 'Federations',
  peers: 'Other nodes',
}

const BELIEFS_GUIDE = 'Guide: [beliefs](../guide/beliefs.md#hold-trust-share).'
const ABOUT: Readonly<Record<string, string>> = {
  '': 'Entries, queries, and the store itself. A query may name a lens.',
  trust: `Trust settings of the lens beliefs. ${BELIEFS_GUIDE}`,
  agents: `Agents hold beliefs. ${BELIEFS_GUIDE}`,
  peers: 'Other nodes that queries are sent to. Guide: [nodes](../guide/nodes.md).',
  federations: `Members of a federation share beliefs. ${BELIEFS_GUIDE}`,
}

function contents(groups: readonly Group[]): string {
  const lines = groups.map(({ title, operations }) => {
    const links = operations.map(({ name }) => `[${withoutPrefix(name)}](#${anchor(name)})`)
    return `- [${title}](#${anchor(title)}): ${links.join(', ')}`
  })
  return `${lines.join('\n')}\n`
}

function withoutPrefix(name: string): string {
  return name.slice(name.indexOf('.') + 1)
}

function sectionOf({ title, about, operations }: Group, entries: OperationEntries): string {
  return [`## ${title}\n\n${about}\n`, ...operations.map(operation => entries.entryOf(operation))].join('\n')
}
