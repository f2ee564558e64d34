import { common } from 'node-mavlink';
import type { SimClient } from './sim-client.ts';

/** The mission of the vehicle with system id 1. */
export const TARGET = { targetSystem: 1, targetComponent: 1, missionType: 0 };

/** Downloads the whole mission. */
export async function download(client: SimClient): Promise<common.MissionItemInt[]> {
  const count = client.next(common.MissionCount);
  client.send(common.MissionRequestList, TARGET);
  const items: common.MissionItemInt[] = [];
  for (let seq = 0; seq < (await count).count; seq++) {
    const item = client.next(common.MissionItemInt, (i) => i.seq === seq);
    client.send(common.MissionRequestInt, { ...TARGET, seq });
    items.push(await item);
  }
  return items;
}

/** Uploads a mission; items are relative to home unless they say otherwise. */
export async function upload(
  client: SimClient,
  items: readonly Partial<common.MissionItemInt>[],
): Promise<common.MavMissionResult> {
  const ack = client.next(common.MissionAck);
  void client
    .next(common.MissionRequestInt, ({ seq }) => {
      client.send(common.MissionItemInt, { ...TARGET, frame: 3, autocontinue: 1, ...items[seq], seq });
      return seq === items.length - 1;
    })
    .catch(() => undefined); // an upload that is refused never asks for the last item
  client.send(common.MissionCount, { ...TARGET, count: items.length });
  return (await ack).type;
}
