import type { ViewProps } from '../../view-props.ts'
import { EntryPage } from './entry-page.tsx'
import { SearchPage } from './search-page.tsx'
import './search.css'

/** `#/search?q=…`: a question and its answer. `#/search/entry/<id>`: one entry. */
export function View({ rest }: ViewProps) {
  const [what, id] = rest
  return what === 'entry' && id !== undefined ? <EntryPage key={id} id={id} /> : <SearchPage />
}
