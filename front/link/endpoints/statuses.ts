import type { EndpointStatus, LinkProblem } from '../../../shared/rpc/link-state.ts';
import type { Methods, Part } from '../part.ts';

/** What is told of the endpoints. @param statuses where ground stations reach the vehicle, the front's WebSockets last */
export function endpointStatuses(statuses: () => readonly EndpointStatus[]) {
  return {
    methods: { endpoints: statuses } satisfies Methods,
    problems: () =>
      statuses().flatMap(({ name, problem }): LinkProblem[] => {
        const detail = `No ground stations on ${name}: ${problem ?? ''}. It is tried again.`;
        return problem === null ? [] : [{ code: 'endpoint_closed', detail }];
      }),
  } satisfies Part;
}
