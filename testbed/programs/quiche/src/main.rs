// SPDX-License-Identifier: GPL-2.0
//! A transfer over a QUIC stream with quiche.
//!
//!     quiche-transfer serve ADDRESS FOLDER
//!     quiche-transfer get ADDRESS BYTES CERTIFICATE FOLDER
//!
//! FOLDER gets a qlog and, from the server, its certificate, made as it starts.

use std::io::BufWriter;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};
use std::{env, error::Error, fs, thread};

use quiche::{Config, Connection, ConnectionId, RecvInfo, SendInfo};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const STREAM: u64 = 0;
const DATAGRAM: usize = 1350;

fn config() -> Result<Config> {
    let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
    config.set_application_protos(&[b"transfer"])?;
    config.set_max_idle_timeout(30_000);
    config.set_max_recv_udp_payload_size(DATAGRAM);
    config.set_max_send_udp_payload_size(DATAGRAM);
    config.set_initial_max_data(10_000_000);
    config.set_initial_max_stream_data_bidi_local(5_000_000);
    config.set_initial_max_stream_data_bidi_remote(5_000_000);
    config.set_initial_max_streams_bidi(1);
    Ok(config)
}

fn keep_log(connection: &mut Connection, folder: &str, side: &str) -> Result<()> {
    let file = fs::File::create(format!("{folder}/{side}.sqlog"))?;
    connection.set_qlog(
        Box::new(BufWriter::new(file)),
        "transfer".into(),
        side.into(),
    );
    Ok(())
}

/// What is to be sent, when its time has come.
struct Waiting {
    len: usize,
    info: SendInfo,
}

/// Carry a connection on, with what `step` does to it, until it is closed.
fn carry_on(
    socket: &UdpSocket,
    connection: &mut Connection,
    mut step: impl FnMut(&mut Connection) -> Result<()>,
) -> Result<()> {
    let (mut from_net, mut to_net) = ([0; 65536], [0; DATAGRAM]);
    let mut waiting: Option<Waiting> = None;
    let to = socket.local_addr()?;
    while !connection.is_closed() {
        step(connection)?;
        loop {
            let Waiting { len, info } = match waiting.take() {
                Some(one) => one,
                None => match connection.send(&mut to_net) {
                    Ok((len, info)) => Waiting { len, info },
                    Err(quiche::Error::Done) => break,
                    Err(error) => return Err(error.into()),
                },
            };
            let wait = info.at.saturating_duration_since(Instant::now());
            if wait > Duration::from_millis(1) {
                waiting = Some(Waiting { len, info });
                break;
            }
            thread::sleep(wait);
            socket.send_to(&to_net[..len], info.to)?;
        }
        let pause = match &waiting {
            Some(one) => Some(one.info.at.saturating_duration_since(Instant::now())),
            None => connection.timeout(),
        };
        if pause == Some(Duration::ZERO) {
            if waiting.is_none() {
                connection.on_timeout();
            }
            continue;
        }
        socket.set_read_timeout(pause)?;
        match socket.recv_from(&mut from_net) {
            Ok((len, from)) => drop(connection.recv(&mut from_net[..len], RecvInfo { from, to })),
            Err(_) => connection.on_timeout(),
        }
    }
    Ok(())
}

fn serve(address: &str, folder: &str) -> Result<()> {
    let made = rcgen::generate_simple_self_signed(["server".to_string()])?;
    let (certificate, key) = (
        format!("{folder}/certificate.pem"),
        format!("{folder}/key.pem"),
    );
    fs::write(&key, made.signing_key.serialize_pem())?;
    fs::write(&certificate, made.cert.pem())?;
    let mut config = config()?;
    config.load_cert_chain_from_pem_file(&certificate)?;
    config.load_priv_key_from_pem_file(&key)?;
    let socket = UdpSocket::bind(address)?;
    let mut buffer = [0; 65536];
    loop {
        socket.set_read_timeout(None)?;
        let (len, from) = socket.recv_from(&mut buffer)?;
        let Ok(header) = quiche::Header::from_slice(&mut buffer[..len], 16) else {
            continue;
        };
        if header.ty != quiche::Type::Initial {
            continue; // the last words of a connection that is over
        }
        let to = socket.local_addr()?;
        let mut connection = quiche::accept(&header.dcid, None, to, from, &mut config)?;
        keep_log(&mut connection, folder, "server")?;
        let _ = connection.recv(&mut buffer[..len], RecvInfo { from, to });
        let mut left: Option<usize> = None;
        carry_on(&socket, &mut connection, |connection| {
            let mut request = [0; 64];
            if left.is_none() && connection.stream_readable(STREAM) {
                let (len, _) = connection.stream_recv(STREAM, &mut request)?;
                left = Some(std::str::from_utf8(&request[..len])?.trim().parse()?);
            }
            while let Some(count @ 1..) = left {
                let room = connection
                    .stream_capacity(STREAM)
                    .unwrap_or(0)
                    .min(count)
                    .min(65536);
                if room == 0 {
                    break;
                }
                let sent = connection.stream_send(STREAM, &vec![0; room], room == count)?;
                left = Some(count - sent);
            }
            Ok(())
        })?;
    }
}

fn get(address: &str, size: &str, certificate: &str, folder: &str) -> Result<()> {
    let peer: SocketAddr = address
        .to_socket_addrs()?
        .next()
        .ok_or("expected HOST:PORT")?;
    let mut config = config()?;
    config.load_verify_locations_from_file(certificate)?;
    config.verify_peer(true);
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    let (began, mut asked, mut count) = (Instant::now(), false, 0);
    let id = [1; 16];
    let id = ConnectionId::from_ref(&id);
    let name = address.split(':').next();
    let mut connection = quiche::connect(name, &id, socket.local_addr()?, peer, &mut config)?;
    keep_log(&mut connection, folder, "client")?;
    carry_on(&socket, &mut connection, |connection| {
        let mut buffer = [0; 65536];
        if !asked && connection.is_established() {
            connection.stream_send(STREAM, size.as_bytes(), true)?;
            asked = true;
        }
        while let Ok((len, end)) = connection.stream_recv(STREAM, &mut buffer) {
            count += len;
            if end {
                connection.close(true, 0, b"done")?;
            }
        }
        Ok(())
    })?;
    let took = began.elapsed().as_secs_f64();
    let mbit = count as f64 * 8e-6 / took;
    println!("{{\"bytes\": {count}, \"seconds\": {took:.6}, \"mbit\": {mbit:.6}}}");
    if count.to_string() != size {
        return Err(format!("expected {size} bytes, got {count}").into());
    }
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address, folder] => serve(address, folder),
        ["get", address, size, certificate, folder] => get(address, size, certificate, folder),
        _ => Err("expected serve ADDRESS FOLDER, or get ADDRESS BYTES CERTIFICATE FOLDER".into()),
    }
}
