import * as video from '../schemas/video.ts';
import { domain } from './domain.ts';
import type { Row } from './row.ts';
import { json, LIMITS, media, PARAM } from './row-parts.ts';

const { row } = domain({
  lane: 'residual',
  feature: 'video',
  profiles: 'DG',
  params: { name: PARAM.file },
});

export const videoStatusRow = row('video.get', 'GET /api/video', 'key read ok -', 'pipeline status', {
  responses: json('measured values; null where nothing was measured', video.videoStatus),
});

export const recordStartRow = row(
  'video.record.start.post',
  'POST /api/video/record/start',
  'key safe_write ok - config',
  'start recording',
  {
    body: video.recordStart,
    fails: ['E_RECORDING_ACTIVE', 'E_RECORDING_NOT_ACTIVE', 'E_DISK_FULL'],
    responses: json('it starts with the next key frame', video.recordStarted),
  },
);

export const recordStopRow = row(
  'video.record.stop.post',
  'POST /api/video/record/stop',
  'key safe_write ok - config',
  'stop recording',
  { fails: ['E_RECORDING_NOT_ACTIVE'], responses: json('the closed recording', video.recordStopped) },
);

export const recordingsRow = row(
  'video.recordings.get',
  'GET /api/video/recordings',
  'key read ok -',
  'recordings',
  {
    responses: json('recordings and stored pictures', video.recordings),
  },
);

export const videoRows = [
  videoStatusRow,
  row('video.snapshot.get', 'GET /api/video/snapshot', 'key read ok -', 'one live JPEG', {
    readTicket: 'query',
    query: video.snapshotQuery,
    fails: ['E_NO_FRAME', 'E_NO_DETECTOR', 'E_NOT_FOUND', 'E_BUSY'],
    responses: media('the picture; X-Captured-At says when it was taken', 'image/jpeg'),
  }),
  row(
    'video.snapshot.post',
    'POST /api/video/snapshot',
    'key safe_write ok - config',
    'store one JPEG and answer its name',
    {
      fails: ['E_NO_FRAME', 'E_DISK_FULL'],
      responses: json('the stored picture; download it like a recording', video.snapshotStored),
    },
  ),
  row('video.profile.get', 'GET /api/video/profile', 'key read ok -', 'applied profile and live leases', {
    responses: json('the applied profile and the leases', video.profileAnswer),
  }),
  row(
    'video.profile.post',
    'POST /api/video/profile',
    'key safe_write ok - config',
    'set base profile, or create or renew a lease',
    {
      body: video.profileRequest,
      responses: json('the applied profile and the leases', video.profileAnswer),
    },
  ),
  row('video.profile.delete', 'DELETE /api/video/profile', 'key safe_write ok - config', 'release a lease', {
    query: video.releaseQuery,
    responses: json('the applied profile and the leases', video.profileAnswer),
  }),
  row('video.cameras.get', 'GET /api/video/cameras', 'key read ok -', 'cameras found', {
    responses: json('V4L2 capture devices and CSI cameras', video.cameras),
  }),
  row('video.camera.put', 'PUT /api/video/camera', 'key safe_write ok - config', 'show another camera', {
    body: video.cameraChoice,
    limits: LIMITS.slow,
    fails: ['E_NOT_FOUND', 'E_BUSY', 'E_NO_PIPELINE'],
    responses: json('its first picture is there; viewers and recording have gone on', video.cameraShown),
  }),
  recordStartRow,
  recordStopRow,
  recordingsRow,
  row(
    'video.recordings.name.get',
    'GET /api/video/recordings/{name}',
    'key read ok -',
    'download a recording, by range',
    {
      readTicket: 'query',
      limits: LIMITS.stream,
      fails: ['E_RANGE_NOT_SATISFIABLE', 'E_PRECONDITION'],
      responses: media('the file', 'video/mp4,image/jpeg'),
    },
  ),
  row(
    'video.recordings.name.delete',
    'DELETE /api/video/recordings/{name}',
    'key destructive ok - config',
    'delete a recording',
    { fails: ['E_RECORDING_ACTIVE'], responses: json('deleted', video.removed) },
  ),
  row('video.live.mp4.get', 'GET /api/video/live.mp4', 'key read ok -', 'live video as fragmented MP4', {
    bearer: true,
    readTicket: 'query',
    limits: LIMITS.stream,
    fails: ['E_NO_PIPELINE', 'E_VIEWERS'],
    responses: media(
      'the main encode; its codec is in the Content-Type, the time of its first picture in X-Captured-At',
      'video/mp4',
    ),
  }),
] as const satisfies readonly Row[];
