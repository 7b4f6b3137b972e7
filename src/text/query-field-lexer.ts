/** Reads a field condition: `name:value`, with its comparison sign, list or quotes. */
import type { FieldOperand, FieldOperator, FieldToken, Sign } from '../model/plan.ts'
import { isBlank, type QueryReader, readQuoted } from './query-reader.ts'
import { querySyntax } from './query-syntax.ts'

/** Null, with the reader where it was, when no condition begins here. `position` is where the token (its sign) begins. */
export function readField(
  reader: QueryReader,
  position: number,
  sign: Sign,
  isField: (name: string) => boolean,
): FieldToken | null {
  const name = reader.nameBeforeColon()
  if (name === null || !isField(name)) return null
  const start = reader.at
  reader.at += name.length + 1
  const scope = reader.peek() === ':'
  const operator = readOperator(reader)
  if (scope || (operator !== ':*' && (reader.done || reader.atBlank))) {
    reader.at = start
    return null
  }
  const operands = readOperands(reader, operator, position)
  return { kind: 'field', sign, name, operator, operands, position, length: reader.at - position }
}

const COMPARISONS: readonly FieldOperator[] = [':<=', ':>=', ':<', ':>', ':=', ':~']

function readOperator(reader: QueryReader): FieldOperator {
  if (reader.peek() === '(') return ':()'
  if (reader.untilBlank(0) === '*') {
    reader.at++
    return ':*'
  }
  for (const operator of COMPARISONS) {
    if (!reader.text.startsWith(operator.slice(1), reader.at)) continue
    reader.at += operator.length - 1
    return operator
  }
  return ':'
}

function readOperands(reader: QueryReader, operator: FieldOperator, position: number): readonly FieldOperand[] {
  if (operator === ':*') return []
  if (operator === ':()') return readList(reader)
  return [readOperand(reader, position, isBlank)]
}

function readList(reader: QueryReader): readonly FieldOperand[] {
  const opening = reader.at
  const operands: FieldOperand[] = []
  reader.at++
  for (;;) {
    reader.skipBlanks()
    if (reader.done) {
      const at = { position: opening, length: 1 }
      throw querySyntax('unterminated_list', at, 'the list is never closed', 'Close it with ), or write \\( for text.')
    }
    if (reader.peek() === ')') break
    operands.push(readOperand(reader, opening, char => char === ')' || isBlank(char)))
  }
  reader.at++
  if (operands.length > 0) return operands
  const at = { position: opening, length: reader.at - opening }
  throw querySyntax('empty_list', at, 'the list is empty', 'Put values between the parentheses.')
}

function readOperand(reader: QueryReader, start: number, ends: (char: string) => boolean): FieldOperand {
  const position = reader.at
  const quoted = reader.peek() === '"'
  const text = quoted ? readQuoted(reader, start) : reader.literalUntil(ends)
  if (text !== '') return { text, quoted, position, length: reader.at - position }
  const at = { position: start, length: reader.at - start }
  throw querySyntax('empty_value', at, 'the value is empty', 'Give a value, or write \\: for a colon that is text.')
}
