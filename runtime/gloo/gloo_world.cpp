#include "runtime/gloo/gloo_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <cassert>
#include <csignal>
#include <exception>

#include "runtime/device/short_slices.h"
#include "runtime/gloo/gloo_communicator.h"

namespace shardscope::runtime {

using core::Result;

namespace {

/// Gloo writes to a connection that its peer has closed without asking to be spared the signal, which would end this
/// process before it can say who has gone. Whoever handles it already keeps doing so.
void ignoreBrokenPipes() {
    struct sigaction action {};
    if (sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

Result<std::unique_ptr<GlooWorld>> GlooWorld::create(const RankAddress& address, const std::string& hereAt,
                                                     GlooPatience patience, std::int64_t clockOffset) {
    std::unique_ptr<GlooWorld> world(new GlooWorld);
    world->m_address = address;
    world->m_patience = patience;
    world->m_clockOffset = clockOffset;
    world->m_network = std::make_unique<Network>();
    ignoreBrokenPipes();
    try {
        gloo::transport::tcp::attr attributes(hereAt.c_str());
        const ShortSlices ofItsThread;
        world->m_network->device = gloo::transport::tcp::CreateDevice(attributes);
    } catch (const std::exception& thrown) {
        return core::fail(core::ErrorCode::Io, fmt::format("Gloo cannot use {}: {}", hereAt, thrown.what()), {},
                          "give --rendezvous an address of a network that this machine is in");
    }
    return world;
}

GlooWorld::~GlooWorld() {
    // The device's thread serves the connections, so they go first.
    for (const auto& channel : m_network->channels) {
        channel->headerBuffers.clear();
        channel->ownBuffers.clear();
        channel->context.reset();
    }
}

std::unique_ptr<Communicator> GlooWorld::communicator(const std::string& name,
                                                      const std::vector<std::int64_t>& members) {
    const auto place = std::find(members.begin(), members.end(), m_address.rank);
    assert(place != members.end() && std::is_sorted(members.begin(), members.end()));
    auto channel = std::make_shared<GlooChannel>();
    channel->name = name;
    channel->members = members;
    channel->position = static_cast<int>(place - members.begin());
    channel->headers.resize(members.size());
    channel->incoming.resize(members.size());
    channel->key = fmt::format("gloo/{}/{}", name, fmt::join(members, ","));
    {
        const std::lock_guard lock(m_mutex);
        channel->key += fmt::format("/{}", m_opened[channel->key]++);
    }
    {
        const std::lock_guard lock(m_network->mutex);
        channel->aborted.store(m_network->failed);
        m_network->channels.push_back(channel);
    }
    return std::make_unique<GlooCommunicator>(*this, std::move(channel));
}

void GlooWorld::Network::fail(const GlooChannel* from) {
    std::vector<std::shared_ptr<GlooChannel>> others;
    {
        const std::lock_guard lock(mutex);
        if (failed) return;
        failed = true;
        others = channels;
    }
    for (const auto& channel : others) {
        if (channel.get() == from) continue;
        const std::lock_guard lock(channel->mutex);
        channel->aborted = true;
        for (const auto& buffer : channel->headerBuffers)
            if (buffer) buffer->abortWaitRecv();
    }
}

}  // namespace shardscope::runtime
