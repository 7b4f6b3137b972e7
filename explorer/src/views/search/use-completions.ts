import { useEffect, useState } from 'preact/hooks'
import type { Suggestion, Suggestions } from '../../../../src/model/suggest.ts'
import { call } from '../../api/call.ts'
import { type Completion, completionsOf, type Typed, typedAt } from './completion.ts'
import { recent } from './recent.ts'

/** Who types on is not asked for. */
const PAUSE_MS = 120
const MOST_NAMES = 4

/** Of the text at the caret; none where `isOn` is false. */
export function useCompletions(text: string, caret: number, isOn: boolean): readonly Completion[] {
  const [suggestions, setSuggestions] = useState<readonly Suggestion[]>([])
  const typed = isOn ? typedAt(text, caret) : null
  const key = typed === null ? '' : JSON.stringify([typed.field, typed.prefix])
  useEffect(() => {
    setSuggestions([])
    if (typed === null) return
    const controller = new AbortController()
    const timer = setTimeout(() => void fetchNames(typed, controller.signal).then(setSuggestions), PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [key])
  return isOn ? completionsOf(text, typed, suggestions, recent()) : []
}

/** Completing is a help: where it fails, there is none. */
async function fetchNames({ field, prefix }: Typed, signal: AbortSignal): Promise<readonly Suggestion[]> {
  const fields = field === null ? ['collection', 'kind', 'tag'] : [field]
  const limit = field === null ? MOST_NAMES : 2 * MOST_NAMES
  try {
    return (await call<Suggestions>('suggest', { prefix, fields, limit }, signal)).suggestions
  } catch {
    return []
  }
}
