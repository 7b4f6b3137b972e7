/** Records of processor instructions, official and undocumented. */
import type { DomainRecord } from '../enrichment/domain.ts'
import { type EncodingFact, OPCODES, UNDOCUMENTED } from '../facts/facts.ts'
import { alsoCalled, sentences, tagList } from './wording.ts'

export function instructionRecords(): readonly DomainRecord[] {
  const official = OPCODES.map(({ mnemonic, name, category, flags, operation, encodings }) => ({
    id: `c64:opcode:${mnemonic}`,
    title: `${mnemonic}: ${name}`,
    type: 'opcode',
    text: sentences(
      `6510 (6502) instruction ${mnemonic}, ${name}, ${category}`,
      `Operation: ${operation}`,
      `Flags ${flags}`,
      encodings.map(encodingText).join('; '),
    ),
    tags: tagList(mnemonic),
  }))
  const undocumented = UNDOCUMENTED.map(({ mnemonic, aliases, operation, encodings }) => ({
    id: `c64:undocumented:${mnemonic}`,
    title: `${mnemonic}: undocumented (illegal) opcode`,
    type: 'opcode',
    text: sentences(
      `Undocumented, illegal instruction ${mnemonic} of the NMOS 6510 (6502)`,
      `Operation: ${operation}`,
      encodings.map(encodingText).join('; '),
      alsoCalled(aliases),
    ),
    tags: tagList(mnemonic),
  }))
  return [...official, ...undocumented]
}

function encodingText({ mode, opcode, bytes, cycles, pageCross, branchTaken }: EncodingFact): string {
  const time = cycles === null ? 'never ends' : `${cycles} cycles`
  const more = [
    ...(pageCross === undefined ? [] : [`${pageCross} more across a page`]),
    ...(branchTaken === undefined ? [] : [`${branchTaken} more when taken`]),
  ]
  return [`${mode} ${opcode}, ${bytes} bytes, ${time}`, ...more].join(', ')
}
