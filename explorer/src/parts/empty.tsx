import type { ComponentChildren } from 'preact'

export interface EmptyProps {
  readonly title: string
  /** What to do about it, or why that is well. */
  readonly children?: ComponentChildren
}

export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
