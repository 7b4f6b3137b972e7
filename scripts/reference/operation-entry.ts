/** What the reference says of one operation. */
import { type EngineOperation, jsonSchema } from '../../src/ops/catalog.ts'
import { commandsOf } from './commands-of.ts'
import { errorsOf } from './errors-of.ts'
import { fieldRows, type Shapes } from './fields.ts'
import type { Known } from './known.ts'
import { anchor, code, table } from './markdown.ts'
import { outline } from './outline.ts'
import type { Schema } from './schema-text.ts'

/** A shorter outline is not worth a link. */
const SHORT = 3

export class OperationEntries {
  readonly #known: Known
  readonly #shapes: Shapes
  /** Outlines of answers that were shown, by the operation that has them. */
  readonly #shown = new Map<string, string>()

  constructor(known: Known, shapes: Shapes) {
    this.#known = known
    this.#shapes = shapes
  }

  entryOf(operation: EngineOperation): string {
    const { name, summary } = operation
    const input = jsonSchema(operation.input, 'input')
    const errors = errorsOf(operation, input)
    return [
      `### ${name}\n\n${summary}. ${effectText(operation)}\n`,
      interfaceLines(name, this.#known),
      fieldTable(input, this.#shapes),
      this.#answer(operation),
      ...(errors === '' ? [] : [`Errors: ${errors}\n`]),
    ].join('\n')
  }

  #answer(operation: EngineOperation): string {
    const text = outline(jsonSchema(operation.output, 'output'))
    if (text === '…') return 'Events: as [live queries](../guide/live.md#events) say.\n'
    const first = this.#shown.get(text)
    if (first !== undefined) return `Answer: as that of [${first}](#${anchor(first)}).\n`
    if (text.split('\n').length > SHORT) this.#shown.set(text, operation.name)
    return `${operation.resumeAt === undefined ? 'Answer' : 'Each event'}:\n\n\`\`\`text\n${text}\n\`\`\`\n`
  }
}

export function fieldTable(schema: Schema, shapes: Shapes): string {
  const rows = fieldRows(schema, shapes)
  return rows.length === 0 ? 'No input.\n' : table(['Field', 'Value', 'Meaning'], rows)
}

function effectText({ effect, stream, resumeAt }: EngineOperation): string {
  const what = { read: 'Reads', write: 'Writes', destroy: 'Deletes' }[effect.kind]
  const again = effect.idempotent ? '; calling it twice is calling it once' : ''
  const owner = effect.ownerOnly === true ? ' For the local owner only.' : ''
  const storeless = effect.storeless === true ? ' Needs no store.' : ''
  const form = resumeAt === undefined ? 'Has a' : 'Has only a'
  const streams = stream === undefined ? '' : ` ${form} [streamed form](../guide/live.md#over-http).`
  return `${what}${again}.${owner}${storeless}${streams}`
}

function interfaceLines(name: string, known: Known): string {
  const commands = commandsOf(name, known).map(command => code(`querent ${command}`))
  const routes = (known.routes.get(name) ?? []).map(code)
  const tools = (known.tools.get(name) ?? []).map(({ name: tool, lens }) =>
    lens === null ? code(tool) : `${code(tool)} (lens ${lens})`,
  )
  const lines = [
    ...(commands.length > 0 ? [`- Command line: ${commands.join(', ')}`] : []),
    `- HTTP: ${[...routes, code(`POST /v1/ops/${name}`)].join(', ')}`,
    ...(tools.length > 0 ? [`- MCP: ${tools.join(', ')}`] : []),
  ]
  return `${lines.join('\n')}\n`
}
