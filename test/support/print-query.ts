/** Writes tokens back as a question; reading it again gives the same tokens, places apart. */
import type { FieldOperand, FieldToken, QueryToken, WordToken } from '../../src/model/plan.ts'

export function printQuery(tokens: readonly QueryToken[]): string {
  return tokens.map((token, at) => (at === 0 || isGlued(token) ? '' : ' ') + printToken(token)).join('')
}

function isGlued(token: QueryToken): boolean {
  return token.kind === 'word' && token.glued
}

function printToken(token: QueryToken): string {
  const sign = token.sign ?? ''
  if (token.kind === 'field') return sign + printField(token)
  const boost = token.boost === 1 ? '' : `^${printNumber(token.boost)}`
  return sign + (token.kind === 'phrase' ? quote(token.text) : printWord(token)) + boost
}

/** Signs matter at the start, quotes and colons where they could open something: those are escaped, and blanks are. */
function printWord(token: WordToken): string {
  const text = token.text.replace(/[\\^\s]/g, '\\$&')
  if (token.glued) return text
  return text.replace(/^["+-]/, '\\$&').replace(/^([^:\\]*):/, '$1\\:')
}

function printField(token: FieldToken): string {
  const [first] = token.operands
  switch (token.operator) {
    case ':*':
      return `${token.name}:*`
    case ':()':
      return `${token.name}:(${token.operands.map(printOperand).join(' ')})`
    default:
      return token.name + token.operator + (first === undefined ? '' : printOperand(first))
  }
}

function printOperand(operand: FieldOperand): string {
  return operand.quoted ? quote(operand.text) : operand.text.replace(/[\\\s"()<>=~*:]/g, '\\$&')
}

function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

/** Without an exponent, which the grammar does not know. */
function printNumber(value: number): string {
  const [digits = '', exponent] = String(value).split('e-')
  return exponent === undefined ? digits : `0.${'0'.repeat(Number(exponent) - 1)}${digits.replace('.', '')}`
}
