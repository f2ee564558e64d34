import { common } from 'node-mavlink';
import type { SimClient } from './sim-client.ts';

/** The mission of the vehicle with system id 1. */
export const TARGET = { targetSystem: 1, targetComponent: 1, missionType: 0 };

/** Downloads the whole mission. */
export async function download(client: SimClient, missionType = 0): Promise<common.MissionItemInt[]> {
  const wanted = { ...TARGET, missionType };
  const count = client.next(common.MissionCount);
  client.send(common.MissionRequestList, wanted);
  const items: common.MissionItemInt[] = [];
  for (let seq = 0; seq < (await count).count; seq++) {
    const item = client.next(common.MissionItemInt, (i) => i.seq === seq);
    client.send(common.MissionRequestInt, { ...wanted, seq });
    items.push(await item);
  }
  client.send(common.MissionAck, { ...wanted, type: common.MavMissionResult.ACCEPTED });
  return items;
}

/** Uploads a mission; items are relative to home unless they say otherwise. */
export async function upload(
  client: SimClient,
  items: readonly Partial<common.MissionItemInt>[],
  missionType = 0,
): Promise<common.MavMissionResult> {
  const ack = client.next(common.MissionAck);
  // ArduPilot asks by MISSION_REQUEST, PX4 by MISSION_REQUEST_INT once it has seen an INT item.
  for (const question of [common.MissionRequest, common.MissionRequestInt]) {
    void client
      .next(question, ({ seq }) => {
        const item = { ...TARGET, frame: 3, autocontinue: 1, ...items[seq], seq, missionType };
        client.send(common.MissionItemInt, item);
        return seq === items.length - 1;
      })
      .catch(() => undefined); // an upload that is refused never asks for the last item
  }
  client.send(common.MissionCount, { ...TARGET, count: items.length, missionType });
  return (await ack).type;
}
