/** Records of chip registers and of jump table routines. */
import type { DomainRecord } from '../enrichment/domain.ts'
import { CHIPS, KERNAL, type KernalFact, REGISTERS, type RegisterFact, VIDEO_BANKS } from '../facts/facts.ts'
import { alsoCalled, sentences, tagList } from './wording.ts'

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
/** Where the video chip's view of memory is chosen. */
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
