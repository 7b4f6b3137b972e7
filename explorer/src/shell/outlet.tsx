import { signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { Busy } from '../parts/busy.tsx'
import { Failure } from '../parts/failure.tsx'
import type { ViewProps } from '../view-props.ts'
import { VIEWS } from '../views.ts'
import { route } from './router.ts'

interface Loaded {
  readonly path: string
  readonly View: FunctionComponent<ViewProps>
}

const loaded = signal<Loaded | null>(null)
const failed = signal<unknown>(null)

/** The view that the address names. */
export function Outlet() {
  const { path, rest } = route.value
  const entry = VIEWS.find(view => view.path === path)
  useEffect(() => {
    failed.value = null
    document.title = entry === undefined ? 'Querent' : `${entry.title} · Querent`
    entry?.load().then(
      ({ View }) => {
        if (route.value.path === entry.path) loaded.value = { path: entry.path, View }
      },
      (thrown: unknown) => {
        failed.value = thrown
      },
    )
  }, [entry])
  if (entry === undefined) return <Failure error={new Error(`There is no view “${path}”.`)} />
  if (failed.value !== null) return <Failure error={failed.value} />
  if (loaded.value?.path !== path) return <Busy what="Opening the view" />
  const { View } = loaded.value
  return <View rest={rest} />
}
