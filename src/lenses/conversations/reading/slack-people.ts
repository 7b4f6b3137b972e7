/** Who and what the ids of a Slack export are. */
import { type ExportFile, nameOf } from './export-file.ts'
import type { Findings } from './findings.ts'
import { jsonRecords, listIn, recordIn, textIn } from './json-records.ts'
import type { SlackNames } from './slack-text.ts'
import type { Zone } from './zones.ts'

export interface SlackChannel {
  readonly id: string
  readonly title: string
}

/** Lists of conversations: public and private channels, groups of people, two people. */
const CHANNEL_LISTS = ['channels.json', 'groups.json', 'mpims.json', 'dms.json']

export function isSlackList(path: string): boolean {
  return nameOf(path) === 'users.json' || CHANNEL_LISTS.includes(nameOf(path))
}

export class SlackPeople implements SlackNames {
  readonly #users = new Map<string, { readonly name: string; readonly zone: Zone | null }>()
  readonly #channels = new Map<string, SlackChannel>()
  /** By the folder that its days are in. */
  readonly #folders = new Map<string, SlackChannel>()

  async read(files: readonly ExportFile[], findings: Findings): Promise<void> {
    // Conversations of people are named after them, so they come first.
    const lists = files.filter(({ path }) => isSlackList(path))
    for (const file of lists.filter(({ path }) => nameOf(path) === 'users.json')) {
      for await (const { value } of jsonRecords(file, null, findings)) this.#addUser(value)
    }
    for (const file of lists.filter(({ path }) => nameOf(path) !== 'users.json')) {
      for await (const { value } of jsonRecords(file, null, findings)) this.#addChannel(value)
    }
  }

  user(id: string): string | null {
    return this.#users.get(id)?.name ?? null
  }

  zone(id: string): Zone | null {
    return this.#users.get(id)?.zone ?? null
  }

  channel(id: string): string | null {
    return this.#channels.get(id)?.title ?? null
  }

  channelIn(folder: string): SlackChannel | null {
    return this.#folders.get(folder) ?? null
  }

  #addUser(value: Readonly<Record<string, unknown>>): void {
    const id = textIn(value, 'id')
    if (id === null) return
    const profile = recordIn(value, 'profile')
    const names = ['display_name', 'real_name'].map(field => textIn(profile, field))
    const name = [...names, textIn(value, 'real_name'), textIn(value, 'name')].find(one => one !== null) ?? id
    const seconds = value['tz_offset']
    const zone = textIn(value, 'tz') ?? (typeof seconds === 'number' ? Math.round(seconds / 60) : null)
    this.#users.set(id, { name, zone })
  }

  #addChannel(value: Readonly<Record<string, unknown>>): void {
    const id = textIn(value, 'id')
    if (id === null) return
    const name = textIn(value, 'name')
    const members = listIn(value, 'members').map(member => this.user(String(member)) ?? String(member))
    const title = name !== null && !name.startsWith('mpdm-') ? name : members.join(', ')
    const channel = { id, title }
    this.#channels.set(id, channel)
    this.#folders.set(name ?? id, channel)
  }
}
