/** Who asks the lens, and until when. */
export interface Call {
  /** Id of the agent that asks. */
  readonly requester: string
  readonly signal: AbortSignal
  /** Milliseconds of a clock that nobody can set, for time limits; absent: the machine's. */
  readonly machineTime?: (() => number) | undefined
}
