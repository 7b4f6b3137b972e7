/** docs/reference/settings.md: every key of the configuration, every variable, every option of a command. */
import { isRecord } from '../../src/base/record.ts'
import { fileSchema } from '../../src/engine/options.ts'
import { jsonSchema } from '../../src/ops/catalog.ts'
import { optionsSection } from './command-options.ts'
import { type FieldRow, fieldRows } from './fields.ts'
import type { Known } from './known.ts'
import { lensSections } from './lens-settings.ts'
import { code, MADE, table } from './markdown.ts'
import type { Schema } from './schema-text.ts'
import { VARIABLES } from './variables.ts'

const FIELD_HEAD = ['Key', 'Value', 'Meaning']
/** Those have sections of their own. */
const APART = ['embedder', 'sources', 'lenses']

export function settingsPage(known: Known): string {
  const file = jsonSchema(fileSchema, 'input')
  const properties = file['properties'] as Readonly<Record<string, Schema>>
  const common = Object.fromEntries(Object.entries(properties).filter(([name]) => !APART.includes(name)))
  return [
    MADE,
    INTRODUCTION,
    `## config.json\n\nIn the home. Every key can be left out.\n\n${table(FIELD_HEAD, fieldRows({ type: 'object', properties: common }, new Map()))}`,
    `## Embedder\n\n\`embedder\` in \`config.json\`: an object with \`provider\` and what that provider takes. Default: \`{"provider": "local"}\`.\n`,
    ...variants(properties['embedder'], 'provider', 'embedder.'),
    `## Sources\n\n\`sources.<name>\` in \`config.json\`: [other engines](../guide/settings.md#sources) under a name of yours.\n`,
    ...variants(properties['sources']?.['additionalProperties'] as Schema, 'kind', 'sources.<name>.'),
    ...lensSections(),
    `## Environment\n\nA variable beats \`config.json\`; an empty one counts as unset. Those of lenses stand with their settings above.\n\n${table(
      ['Variable', 'Value', 'Default', 'Sets'],
      VARIABLES.map(([name, value, without, means]) => [code(name), value, without, means]),
    )}`,
    optionsSection(known),
  ].join('\n')
}

const INTRODUCTION = `# Settings

Every setting with its range, unit and default. The [guide](../guide/settings.md) says what they are for. A setting is taken from the
first of: the option of the command line or what a program passes, the environment, \`config.json\` in the home, the default. What is
out of range, or has a name that is not listed, is refused with an error that names it.

[config.json](#configjson) · [Embedder](#embedder) · [Sources](#sources) · [Chroma](#chroma) · [Collections](#collections) ·
[Context](#context) · [Beliefs](#beliefs) · [C64](#c64) · [Environment](#environment) · [Options of commands](#options-of-commands)
`

/** One table for each kind of object of a union, which \`by\` tells apart. */
function variants(union: Schema | undefined, by: string, place: string): readonly string[] {
  const branches = union?.['oneOf'] ?? union?.['anyOf']
  if (!Array.isArray(branches)) throw new Error(`${place} is no union any more`)
  return (branches as readonly Schema[]).map(branch => {
    const properties = isRecord(branch['properties']) ? (branch['properties'] as Readonly<Record<string, Schema>>) : {}
    const { [by]: kind, ...rest } = properties
    const title = `\`"${by}": ${JSON.stringify(kind?.['const'])}\``
    const required = (branch['required'] as readonly string[]).filter(name => name !== by)
    const rows: readonly FieldRow[] = fieldRows({ type: 'object', properties: rest, required }, new Map(), place)
    return `${title}: ${String(kind?.['description'] ?? '')}.\n${rows.length === 0 ? '' : `\n${table(FIELD_HEAD, rows)}`}`
  })
}
