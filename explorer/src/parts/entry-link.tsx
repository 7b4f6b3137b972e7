import type { ComponentChildren } from 'preact'
import { addressOf } from '../shell/router.ts'

export function entryAddress(id: string): string {
  return addressOf('search', ['entry', id])
}

export interface EntryLinkProps {
  readonly id: string
  readonly children: ComponentChildren
}

/** To the page of one entry. */
export function EntryLink({ id, children }: EntryLinkProps) {
  return <a href={entryAddress(id)}>{children}</a>
}

/** What an entry is called where it has no title. */
export function titleOf({ title, id }: { readonly title: string; readonly id: string }): string {
  return title.trim() === '' ? id : title
}
