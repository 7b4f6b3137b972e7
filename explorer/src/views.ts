/** What one can look at. A view is loaded when it is first opened: only two of them need a renderer of their own. */
import type { FunctionComponent } from 'preact'
import type { ViewProps } from './view-props.ts'

export interface ViewEntry {
  readonly path: string
  readonly title: string
  /** Lens without which the view has nothing to show. */
  readonly lens?: string
  load(): Promise<{ readonly View: FunctionComponent<ViewProps> }>
}

export const VIEWS: readonly ViewEntry[] = [
  { path: 'search', title: 'Search', load: () => import('./views/search/view.tsx') },
  { path: 'live', title: 'Live', load: () => import('./views/live/view.tsx') },
  { path: 'colour', title: 'Colour space', lens: 'chroma', load: () => import('./views/colour/view.tsx') },
  { path: 'graph', title: 'Concepts', lens: 'context', load: () => import('./views/graph/view.tsx') },
  { path: 'beliefs', title: 'Beliefs', lens: 'beliefs', load: () => import('./views/beliefs/view.tsx') },
  { path: 'store', title: 'Store', load: () => import('./views/store/view.tsx') },
]
