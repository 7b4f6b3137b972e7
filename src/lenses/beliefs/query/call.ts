/** Who asks the lens, and until when. */
export interface Call {
  /** Id of the agent that asks. */
  readonly requester: string
  readonly signal: AbortSignal
}
