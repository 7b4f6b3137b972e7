import { useLayoutEffect, useState } from 'preact/hooks'
import { DAYS } from './lens.ts'

/** A day of the slider while it plays, and how far it goes at once for those who want no motion. */
const TICK_MS = 120
const LEAP = 30

export interface TimeProps {
  readonly day: number
  /** The moment in words. */
  readonly when: string
  readonly onDay: (change: (day: number) => number) => void
}

/** What the picture shows: now, or as it will be after so many days in which nobody uses anything. */
export function Time({ day, when, onDay }: TimeProps) {
  const [isPlaying, setPlaying] = useState(false)
  const isAtEnd = day >= DAYS
  const mayMove = !matchMedia('(prefers-reduced-motion: reduce)').matches
  // With the layout, which no timer can come before: after "Pause" no day is added.
  useLayoutEffect(() => {
    if (!isPlaying || isAtEnd) {
      setPlaying(false)
      return
    }
    const timer = setInterval(() => onDay(now => Math.min(DAYS, now + 1)), TICK_MS)
    return () => clearInterval(timer)
  }, [isPlaying, isAtEnd])
  return (
    <div class="colour-time">
      <label for="colour-day">If nobody uses anything from now on</label>
      <input
        id="colour-day"
        type="range"
        min={0}
        max={DAYS}
        value={day}
        aria-valuetext={when}
        onInput={event => {
          const { valueAsNumber } = event.currentTarget
          onDay(() => valueAsNumber)
        }}
      />
      <div class="row">
        {mayMove ? (
          <button
            type="button"
            onClick={() => {
              if (isAtEnd) onDay(() => 0)
              setPlaying(!isPlaying)
            }}
          >
            {isPlaying ? 'Pause' : 'Play'}
          </button>
        ) : (
          <button type="button" disabled={isAtEnd} onClick={() => onDay(now => Math.min(DAYS, now + LEAP))}>
            {LEAP} days on
          </button>
        )}
        <button type="button" disabled={day === 0} onClick={() => onDay(() => 0)}>
          Now
        </button>
        <output for="colour-day">{when}</output>
      </div>
      <p class="quiet small">
        How strong something was before its last use is not kept: the picture goes forward only.
      </p>
    </div>
  )
}
