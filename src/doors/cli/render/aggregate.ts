/** What `querent federations aggregate` prints for people. */
export interface AggregateAnswer {
  readonly aggregate: {
    readonly federation_id: string
    readonly topic: string | null
    readonly domain: string | null
    readonly epoch: string
    readonly summary: { readonly member_count: number; readonly belief_count: number } | null
    readonly rules: { readonly least_members: number; readonly member_noise: number; readonly belief_noise: number }
  }
  readonly budget: {
    readonly epsilon_charged: number
    readonly epsilon_left: number
    readonly epsilon_per_day: number
    readonly renews_at: string
  }
}

export function aggregateText({ aggregate, budget }: AggregateAnswer): string {
  const { epsilon_charged: charged, epsilon_left: left, epsilon_per_day: day, renews_at: renews } = budget
  return `${figuresText(aggregate)}\nepsilon ${charged} charged, ${left} of ${day} left until ${renews}\n`
}

function figuresText({ federation_id, topic, domain, epoch, summary, rules }: AggregateAnswer['aggregate']): string {
  const about = `${topic === null ? domain : `"${topic}"`} in ${federation_id} on ${epoch}`
  if (summary === null)
    return `${about}: nothing is told (fewer than ${rules.least_members} members, or not enough beyond them)`
  const { member_count: members, belief_count: beliefs } = summary
  const noise = `within ${rules.member_noise} and ${rules.belief_noise} of the truth, 95 times in 100`
  return `${about}: about ${members} members, ${beliefs} beliefs (${noise}; at most three beliefs count of each)`
}
