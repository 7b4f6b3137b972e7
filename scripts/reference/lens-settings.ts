/** Settings of the lenses: in `config.json` under `lenses.<name>`, and some in the environment. */
import { DEFAULTS as BELIEFS, settingsSchema as beliefsSchema } from '../../src/lenses/beliefs/beliefs-settings.ts'
import { DEFAULTS as C64, settingsSchema as c64Schema, type Field, variablesOf } from '../../src/lenses/c64/settings.ts'
import { SETTING_KEYS, variableOf } from '../../src/lenses/chroma/settings.ts'
import { settingsSchema as collectionsSchema } from '../../src/lenses/collections/collections-lens.ts'
import { settingsSchema as contextSchema } from '../../src/lenses/context/state.ts'
import { jsonSchema } from '../../src/ops/catalog.ts'
import { fieldRows } from './fields.ts'
import { code, table } from './markdown.ts'

const HEAD = ['Key', 'Value', 'Default', 'Meaning']

export function lensSections(): readonly string[] {
  return [chroma(), collections(), context(), beliefs(), c64()]
}

function chroma(): string {
  const rows = SETTING_KEYS.map(key => [
    code(key.name),
    code(variableOf(key)),
    key.expected,
    valueText(key.builtIn),
    `${key.means}.`,
  ])
  return `## Chroma\n\n\`lenses.chroma\`, by section. Variables are read as JSON, or as a text.\n\n${table(['Key', 'Variable', 'Value', 'Default', 'Meaning'], rows)}`
}

function collections(): string {
  const rows = fieldRows(jsonSchema(collectionsSchema, 'input'), new Map())
  return `## Collections\n\n\`lenses.collections\`.\n\n${table(['Key', 'Value', 'Meaning'], rows)}`
}

function context(): string {
  const rows = fieldRows(jsonSchema(contextSchema, 'input'), new Map())
  return `## Context\n\n\`lenses.context\`.\n\n${table(['Key', 'Value', 'Meaning'], rows)}`
}

function beliefs(): string {
  const defaults = new Map(Object.entries(BELIEFS).map(([name, value]) => [snakeCased(name), value as unknown]))
  const rows = fieldRows(jsonSchema(beliefsSchema, 'input'), new Map()).flatMap(([name, type, means]) => {
    const key = name.replaceAll('`', '')
    return defaults.has(key) ? [[name, type, beliefsDefault(key, defaults.get(key)), means]] : []
  })
  return `## Beliefs\n\n\`lenses.beliefs\`.\n\n${table(HEAD, rows)}`
}

function beliefsDefault(key: string, value: unknown): string {
  if (key === 'thresholds') return 'calibrated'
  if (key !== 'decay') return valueText(value)
  const { rates, otherwise } = BELIEFS.decay
  return [...rates, ['other', otherwise] as const].map(([domain, rate]) => `${code(domain)} ${rate}`).join(', ')
}

function c64(): string {
  const fields = fieldRows(jsonSchema(c64Schema, 'input'), new Map())
  const defaults = new Map(Object.entries(C64).map(([name, value]) => [snakeCased(name), value as unknown]))
  const rows = fields.map(([name, type, means]) => {
    const key = name.replaceAll('`', '')
    return [
      name,
      variablesOf(key as Field)
        .map(code)
        .join(', '),
      type,
      valueText(defaults.get(snakeCased(key))),
      means,
    ]
  })
  const keys = '`QDRANT_API_KEY` and `OPENAI_API_KEY` hold keys, in the environment alone.'
  return `## C64\n\n\`lenses.c64\`. ${keys}\n\n${table(['Key', 'Variable', 'Value', 'Default', 'Meaning'], rows)}`
}

function valueText(value: unknown): string {
  return value === undefined ? 'none' : code(typeof value === 'string' ? value : JSON.stringify(value))
}

function snakeCased(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
