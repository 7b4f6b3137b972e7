/** Adds a member to an object in a JSON text, or takes one out, indented as its neighbours are. */
import type { Node } from 'jsonc-parser'

/** `object` is a node of `text`; the member comes last. */
export function withMember(text: string, object: Node, name: string, value: object): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const last = object.children?.at(-1)
  const isOneLine = last !== undefined && lineStart(text, last.offset) <= object.offset
  if (isOneLine) return spliced(text, endOf(last), 0, `, ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  const outer = indentAt(text, object.offset)
  const inner = last === undefined ? outer + unit : indentAt(text, last.offset)
  const lines = JSON.stringify(value, null, unit).split('\n')
  const member = `${eol}${inner}${JSON.stringify(name)}: ${lines.join(eol + inner)}`
  if (last !== undefined) return spliced(text, endOf(last), 0, `,${member}`)
  const start = object.offset + 1
  const inside = text.slice(start, endOf(object) - 1)
  // A comment stays where it is, below.
  return inside.trim() === ''
    ? spliced(text, start, inside.length, `${member}${eol}${outer}`)
    : spliced(text, start, 0, member)
}

/** With the comma that parted it from its neighbour. */
export function takenOut(text: string, member: Node): string {
  const members = member.parent?.children ?? []
  const at = members.indexOf(member)
  const before = members[at - 1]
  if (before !== undefined) {
    // A comment behind the neighbour's comma is the neighbour's.
    const comma = /^\s*,/.exec(text.slice(endOf(before)))?.[0].length ?? 0
    const between = text.slice(endOf(before) + comma, member.offset)
    if (between.trim() === '') return spliced(text, endOf(before), endOf(member) - endOf(before), '')
    return spliced(text, member.offset, endOf(member) - member.offset + commaAfter(text, member), '')
  }
  const start = member.offset - (/\s*$/.exec(text.slice(0, member.offset))?.[0].length ?? 0)
  return spliced(text, start, endOf(member) + commaAfter(text, member) - start, '')
}

/** Length up to the end of the comma behind a member; 0 where there is none. */
function commaAfter(text: string, member: Node): number {
  return /^\s*,/.exec(text.slice(endOf(member)))?.[0].length ?? 0
}

function endOf(node: Node): number {
  return node.offset + node.length
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? ''
}

function spliced(text: string, at: number, length: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at + length)
}
