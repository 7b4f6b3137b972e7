/** The built-in facts of the C64 lens, one record for each. The lens can answer questions from them alone. */
import { sha256 } from '../../base/canonical.ts'
import { toAddress } from './enrichment/numbers.ts'
import type { DomainRecord } from './enrichment/plugin.ts'
import {
  addressOf,
  CHIPS,
  COLORS,
  CPU_BANKING,
  type EncodingFact,
  IO_GROUPS,
  KERNAL,
  type KernalFact,
  LOCATIONS,
  NOTES,
  OPCODES,
  type Range,
  REGIONS,
  REGISTERS,
  type RegisterFact,
  ROUTINES,
  rangeOf,
  sizeOf,
  UNDOCUMENTED,
  VIDEO_BANKS,
} from './facts/facts.ts'
import { canonicalTag, namedTag } from './names.ts'

export function c64Corpus(): readonly DomainRecord[] {
  return [
    ...registerRecords(),
    ...routineRecords(),
    ...instructionRecords(),
    ...colorRecords(),
    ...memoryRecords(),
    ...noteRecords(),
  ]
}

/** Version of the facts: a hash that changes when a fact changes. Data made from another version is then made again. */
export function corpusVersion(records: readonly DomainRecord[]): string {
  return sha256(JSON.stringify(records))
}

export function registerRecords(): readonly DomainRecord[] {
  return REGISTERS.map(register => ({
    id: `c64:register:${register.name}`,
    title: `${register.name}: ${register.chip} register ${register.address}`,
    type: 'register',
    text: registerText(register),
    tags: tagList(register.address, register.name),
  }))
}

export function routineRecords(): readonly DomainRecord[] {
  return KERNAL.map(entry => ({
    id: `c64:kernal:${entry.label}`,
    title: `${entry.label}: KERNAL routine ${entry.address}`,
    type: 'kernal',
    text: routineText(entry),
    tags: tagList(entry.address, entry.label),
  }))
}

const ACCESS: Readonly<Record<string, string>> = {
  r: 'Read only',
  w: 'Write only',
  rw: 'Can be read and written',
}
/** Name of the register that selects the memory bank of the video chip. */
const VIDEO_BANK_REGISTER = 'CI2PRA'

function registerText(register: RegisterFact): string {
  const { name, address, dec, chip, aliases, genericName, access, bits, kernalDefault, isColor, note } = register
  const title = CHIPS.find(each => each.chip === chip)?.title
  const start = kernalDefault === undefined || kernalDefault === null ? '' : `Set to ${kernalDefault} at power on`
  return sentences(
    register.summary,
    `${address} (decimal ${dec}), ${chip}${title === undefined ? '' : `, ${title}`}`,
    ...(bits ?? []).map(bit => `Bits ${bit.bits}${bit.name === '-' ? '' : ` ${bit.name}`}: ${bit.meaning}`),
    isColor === true ? 'Holds a colour (color) from 0 to 15' : '',
    ACCESS[access],
    start,
    note,
    name === VIDEO_BANK_REGISTER ? videoBanks() : '',
    alsoCalled([...aliases, ...[genericName ?? name].filter(other => other !== name)]),
  )
}

function videoBanks(): string {
  const banks = VIDEO_BANKS.map(({ dd00Low2, bank, start }) => `${dd00Low2} bank ${bank} from ${start}`)
  return `Bits 1-0 choose the VIC bank: ${banks.join(', ')}`
}

function routineText(entry: KernalFact): string {
  const vector = entry.vector ?? null
  return sentences(
    entry.summary,
    `Call with JSR ${entry.address} (SYS ${entry.dec})`,
    entry.in === '' ? '' : `Input: ${entry.in}`,
    entry.out === '' ? '' : `Output: ${entry.out}`,
    entry.affects.length === 0 ? '' : `Changes ${entry.affects.join(', ')}`,
    entry.callFirst.length === 0 ? '' : `Call before: ${entry.callFirst.join(', ')}`,
    entry.errors === '' ? '' : `Errors: ${entry.errors}`,
    vector === null ? '' : `Goes through the vector ${entry.vectorName ?? ''} ${vector}`,
    `Routine in ROM at ${entry.romAddress}`,
    alsoCalled(entry.aliases),
  )
}

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

export function colorRecords(): readonly DomainRecord[] {
  return COLORS.map(({ index, name, tag, aliases, petscii, petsciiDec, keys, rgb }) => ({
    id: `c64:color:${index}`,
    title: `${name}: colour ${index}`,
    type: 'color',
    text: sentences(
      `Colour (color) number ${index} of the palette is ${name.toLowerCase()}, about ${rgb}`,
      `Text colour by ${keys}, control code ${petscii} (CHR$(${petsciiDec}))`,
      alsoCalled(aliases),
    ),
    tags: tagList(tag),
  }))
}

export function memoryRecords(): readonly DomainRecord[] {
  return [...locationRecords(), ...groupRecords(), ...regionRecords(), ...romRecords()]
}

/** Maximum size of an address range in which every address becomes a tag; of a larger range only the first and last address do. */
const MAX_TAGS = 256

export function addressTags(range: Range): readonly string[] {
  if (sizeOf(range) > MAX_TAGS) return [toAddress(range.start), toAddress(range.end)]
  return Array.from({ length: sizeOf(range) }, (_, offset) => toAddress(range.start + offset))
}

const PROCESSOR_PORT = 'R6510'

function locationRecords(): readonly DomainRecord[] {
  return LOCATIONS.map(({ start, end, label, aliases, summary, category }) => {
    const place = placeText(start, end)
    return {
      id: `c64:location:${start}-${end}`,
      title: label === null ? `Memory ${place}` : `${label}: location ${place}`,
      type: 'location',
      text: sentences(
        summary,
        `${decimalText(start, end)}, ${category}`,
        label === PROCESSOR_PORT ? banking() : '',
        alsoCalled(aliases),
      ),
      tags: tagList(...addressTags(rangeOf({ start, end })), ...labelTags(label)),
    }
  })
}

function groupRecords(): readonly DomainRecord[] {
  return IO_GROUPS.map(({ start, end, title, summary }) => ({
    id: `c64:io:${start}-${end}`,
    title: `${title}: ${placeText(start, end)}`,
    type: 'io',
    text: sentences(summary, `${decimalText(start, end)}, input and output`),
    tags: tagList(...addressTags(rangeOf({ start, end }))),
  }))
}

function regionRecords(): readonly DomainRecord[] {
  return REGIONS.map(({ start, end, title, name, kind, summary, more }) => ({
    id: `c64:region:${start}-${end}:${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    title: `${title}: memory ${placeText(start, end)}`,
    type: 'region',
    text: sentences(summary, more, `${decimalText(start, end)}, ${sizeOf(rangeOf({ start, end }))} bytes, ${kind}`),
    tags: tagList(start, end),
  }))
}

function romRecords(): readonly DomainRecord[] {
  return ROUTINES.map(({ address, dec, label, aliases, area, summary }) => ({
    id: `c64:rom:${address}`,
    title: `${label}: ${area} routine ${address}`,
    type: 'rom',
    text: sentences(summary, `${area} entry point, decimal ${dec}`, alsoCalled(aliases)),
    tags: tagList(address, ...labelTags(label)),
  }))
}

function noteRecords(): readonly DomainRecord[] {
  return NOTES.map(({ id, title, text, tags }) => ({
    id: `c64:note:${id}`,
    title,
    type: 'note',
    text,
    tags: tagList(...tags),
  }))
}

/**
 * Tags of the label of a memory location. There are none if the label is also the name of a register, jump table routine, instruction or
 * colour, because the tag with this name already means that register, routine, instruction or colour.
 */
function labelTags(label: string | null): readonly string[] {
  return label === null || namedTag(label) !== null ? [] : [canonicalTag(label)]
}

function placeText(start: string, end: string): string {
  return start === end ? start : `${start}-${end}`
}

function decimalText(start: string, end: string): string {
  return start === end ? `Decimal ${addressOf(start)}` : `Decimal ${addressOf(start)} to ${addressOf(end)}`
}

function banking(): string {
  const rows = CPU_BANKING.map(
    ({ port01Low3, A000, D000, E000 }) => `${port01Low3}: $A000 ${A000}, $D000 ${D000}, $E000 ${E000}`,
  )
  return `What the processor sees by bits 2-0: ${rows.join('; ')}`
}

/** Joins parts to a text of sentences, adding missing full stops and initial capitals. Empty parts are left out. */
export function sentences(...parts: readonly (string | null | undefined)[]): string {
  return parts
    .map(part => (part ?? '').trim())
    .filter(part => part !== '')
    .map(part => (/[.!?]$/.test(part) ? part : `${part}.`))
    .map(part => part.charAt(0).toUpperCase() + part.slice(1))
    .join(' ')
}

/** The text "Also called A, B" for these names; an empty text if there are none. */
export function alsoCalled(names: readonly string[]): string {
  return names.length === 0 ? '' : `Also called ${names.join(', ')}`
}

/** Sorts tags and removes duplicates. */
export function tagList(...tags: readonly string[]): readonly string[] {
  return [...new Set(tags)].sort()
}
