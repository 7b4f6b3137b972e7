import type { ConnectionState } from './watching.ts'

const WORDS: Readonly<Record<ConnectionState, string>> = {
  connecting: 'Connecting …',
  watching: 'Watching: changes are told as they happen.',
  lost: 'The connection is lost. Trying again; nothing that happens meanwhile is missed.',
  refused: 'The question is not watched.',
}

export function Connection({ state }: { readonly state: ConnectionState }) {
  return (
    <p class={`live-state ${state}`} role="status">
      <i aria-hidden="true" />
      {WORDS[state]}
    </p>
  )
}
